// @vitest-environment jsdom
/** `level`: how much of a limit with `warnAt` is used, as a page shows it. */
import { cleanup, renderHook } from "@testing-library/react";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { afterEach, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { HOUR } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const limits = {
  quota: { kind: "fixed window", rate: 10, period: HOUR, warnAt: [0.8, 1] },
  silent: { kind: "fixed window", rate: 10, period: HOUR },
} as const;

type AppRouter = Awaited<ReturnType<typeof startLimitServer<typeof limits>>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

it("follows the use by others, and says nothing of a limit without levels", async () => {
  await using server = await startLimitServer(limits);
  const { limiter } = server;
  const { result, unmount } = renderHook(
    () =>
      [useRateLimit("quota"), useRateLimit("silent")].map(({ status, level }) => [
        status?.ok,
        level,
      ]),
    {
      wrapper: ({ children }) => (
        <QueryClientProvider client={new QueryClient()}>
          <RateLimitProvider client={server.server.connect()}>{children}</RateLimitProvider>
        </QueryClientProvider>
      ),
    },
  );
  const shows = (...quota: unknown[]) =>
    soon(() => expect(result.current).toEqual([quota, [true, undefined]]));
  await shows(true, undefined);
  await limiter.limit("silent", { count: 9 });
  const taken = await limiter.limit("quota", { count: 8 });
  await shows(true, 0.8);
  await limiter.limit("quota", { count: 2 });
  await shows(false, 1);
  await limiter.settle(taken, 1);
  await shows(true, undefined);
  unmount();
});
