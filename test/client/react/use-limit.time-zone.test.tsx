// @vitest-environment jsdom
/** Pages that follow limits of a time zone: they predict the server's answers without its calendar. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { DAY, HOUR } from "../../../server/index.js";
import { startLimitServer } from "../../support/limit-server.js";
import { soon } from "../../support/soon.js";

const limits = {
  daily: {
    kind: "fixed window",
    rate: 2,
    capacity: 4,
    period: "day",
    timeZone: "Europe/Berlin",
  },
  spread: {
    kind: "fixed window",
    rate: 4,
    period: "week",
    timeZone: "America/New_York",
    shards: 2,
    maxReserved: 0,
  },
} as const;

/** Two hours before the day on which Berlin puts its clock forward. */
const EVE = Date.parse("2030-03-30T21:00Z");

const start = (clock: () => number) => startLimitServer(limits, { clock });
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitProvider, useRateLimit } = createRateLimitReact<AppRouter>();

afterEach(cleanup);

async function startPage(clock: () => number) {
  const app = await start(clock);
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
  return {
    ...app,
    async follow(name: keyof typeof limits, count = 1) {
      const hook = renderHook(() => useRateLimit(name, { count }), { wrapper });
      await soon(() => expect(hook.result.current.connection).toBe("live"));
      await soon(() => expect(hook.result.current.status).toBeDefined());
      return hook.result;
    },
    async [Symbol.asyncDispose]() {
      cleanup();
      queryClient.clear();
      await app[Symbol.asyncDispose]();
    },
  };
}

/** The ms from this machine's time to the server's, as the page knows it. */
function offsetOf(check: ReturnType<typeof useRateLimit>["check"]): number {
  const now = Date.now();
  return check(now, 0)!.now - now;
}

describe("useRateLimit of a time zone", () => {
  it("predicts what the server answers, on both sides of each of the next midnights", async () => {
    let now = EVE;
    await using page = await startPage(() => now);
    const hook = await page.follow("daily", 1);
    await page.limiter.limit("daily", { count: 4 });
    await soon(() => expect(hook.current.status).toMatchObject({ ok: false }));
    const { check } = hook.current;
    const offset = offsetOf(check);
    const midnights = [EVE + 2 * HOUR, EVE + 25 * HOUR];
    for (const at of midnights.flatMap((midnight) => [midnight - 1, midnight])) {
      for (const count of [1, 3, 4]) {
        now = at;
        const { ok, retryAfter } = await page.limiter.check("daily", { count });
        const predicted = check(at - offset, count)!;
        expect(predicted.retryAt === undefined).toBe(ok);
        if (!ok) expect(Math.round(predicted.retryAt! + offset)).toBe(at + retryAfter);
      }
    }
    // The day on which the clock is put forward has 23 hours.
    now = EVE;
    expect(await page.limiter.check("daily", { count: 4 })).toMatchObject({
      retryAfter: 25 * HOUR,
    });
    expect(Math.round(check(EVE - offset, 4)!.retryAt! + offset)).toBe(EVE + 25 * HOUR);
  });

  it("knows the next week of a limit with shards", async () => {
    let now = EVE;
    await using page = await startPage(() => now);
    const hook = await page.follow("spread", 4);
    await page.limiter.limit("spread", { count: 1 });
    await soon(() => expect(hook.current.status).toMatchObject({ ok: false }));
    const offset = offsetOf(hook.current.check);
    const monday = Date.parse("2030-04-01T04:00Z");
    expect(Math.round(hook.current.status!.retryAt! + offset)).toBe(monday);
    now = monday - 1;
    expect((await page.limiter.check("spread", { count: 4 })).ok).toBe(false);
    now = monday;
    expect((await page.limiter.check("spread", { count: 4 })).ok).toBe(true);
    expect(monday - EVE).toBeGreaterThan(DAY);
  });
});
