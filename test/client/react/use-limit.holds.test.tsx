// @vitest-environment jsdom
/** Pages that show what calls hold and have not settled yet. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { HOUR, MINUTE } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const limits = {
  tokens: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  plain: { kind: "fixed window", rate: 100, period: HOUR, start: 0 },
} as const;
const START = Date.parse("2030-01-01T00:00Z");

const start = () => startLimitServer(limits, { clock: () => START });
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

it("shows what is held, and follows it where nothing else changes", async () => {
  await using app = await start();
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
  let renders = 0;
  const { result: hook } = renderHook(
    () => {
      renders++;
      const { status, held } = useRateLimit("tokens");
      const { held: none } = useRateLimit("plain");
      return [status?.ok, held, none].join();
    },
    { wrapper },
  );
  await soon(() => expect(hook.current).toBe("true,0,"));
  await app.limiter.limit("tokens", {
    count: 30,
    once: "job",
    hold: { for: MINUTE, then: "keep" },
  });
  await soon(() => expect(hook.current).toBe("true,30,"));
  const before = renders;
  await app.limiter.settle("tokens", { once: "job" }, 30);
  await soon(() => expect(hook.current).toBe("true,0,"));
  expect(renders).toBe(before + 1);
});
