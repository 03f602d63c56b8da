// @vitest-environment jsdom
/** Pages that say when a limit resets. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { resetAt, waitInWords } from "../../../core/index.js";
import { DAY, HOUR } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const limits = {
  pictures: { kind: "fixed window", rate: 2, period: "month", start: 0 },
  slow: { kind: "token bucket", rate: 2, period: DAY },
} as const;
/** Years away from this machine's clock. */
const START = Date.parse("2030-01-28T00:00Z");

const start = () => startLimitServer(limits, { clock: () => START });
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

it("say it in the server's time, and follow calls", async () => {
  await using app = await start();
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
  const useReset = (name: keyof typeof limits) => {
    // Reading `value` makes the component follow the tokens.
    const { check, value } = useRateLimit(name);
    const checked = check(undefined, 0);
    const at = checked && resetAt(checked);
    return at && `${value} left, full in ${Math.round((at - checked.now) / HOUR)} h`;
  };
  const { result: hook } = renderHook(() => [useReset("pictures"), useReset("slow")], { wrapper });
  await soon(() => expect(hook.current).toEqual(["2 left, full in 96 h", "2 left, full in 0 h"]));
  await app.limiter.limit("pictures");
  await app.limiter.limit("slow");
  await soon(() => expect(hook.current).toEqual(["1 left, full in 96 h", "1 left, full in 12 h"]));
  expect(waitInWords(96 * HOUR)).toBe("4 days");
});
