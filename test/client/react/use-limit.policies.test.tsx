// @vitest-environment jsdom
/** Pages that follow limits with policies: settled, closed, monthly and in shadow. */
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it } from "vitest";
import { createRateLimitReact } from "../../../client/react/index.js";
import { calculateRateLimit } from "../../../core/calculate.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../../server/index.js";
import { type LimitServerOptions, startLimitServer } from "../../support/limit-server.js";
import { textOf } from "../../support/page.js";
import { soon } from "../../support/soon.js";

const few = { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 } as const;
const window = {
  kind: "fixed window",
  rate: 2,
  period: SECOND,
  start: 0,
  blockFor: 2500,
} as const;
const limits = {
  few,
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: 15 * MINUTE },
  brief: { kind: "token bucket", rate: 100, period: SECOND, capacity: 2, blockFor: 1200 },
  window,
  anew: { ...window, afterBlock: "new window" },
  monthly: {
    kind: "fixed window",
    rate: 2,
    period: "month",
    start: Date.UTC(2027, 0, 31, 10),
    capacity: 4,
  },
  trial: { ...few, shadow: true },
} as const;
type Name = keyof typeof limits;

const start = (options: LimitServerOptions) => startLimitServer(limits, options);
type AppRouter = Awaited<ReturnType<typeof start>>["router"];
const { RateLimitProvider, RateLimitCountdown, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<AppRouter>();

afterEach(cleanup);

async function startPage(options: LimitServerOptions = {}) {
  const app = await start(options);
  const client = app.server.connect();
  const queryClient = new QueryClient();
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queryClient}>
      <RateLimitProvider client={client}>{children}</RateLimitProvider>
    </QueryClientProvider>
  );
  return {
    ...app,
    client,
    wrapper,
    /** A hook on this limit, once it is live. */
    async follow(name: Name, count = 1) {
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

/** A clock that runs like this machine's, and shows `now` at first. */
function runningFrom(now: number): () => number {
  const offset = now - Date.now();
  return () => Date.now() + offset;
}

/** 1.5 s before the end of a monthly window, on the last day of a leap February. */
const EVE = Date.UTC(2028, 1, 29, 10) - 1500;

describe("useRateLimit", () => {
  it("follows a settlement down and up, and a charge into debt", async () => {
    await using page = await startPage();
    const hook = await page.follow("few", 2);
    const result = await page.limiter.limit("few", { count: 3 });
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: false }, value: 0 }));
    await page.limiter.settle(result, 0.5);
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: true }, value: 2 }));
    await page.limiter.settle(result, 2);
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: false }, value: 1 }));
    await page.limiter.charge("few", { count: 4 });
    await soon(() => expect(hook.current.value).toBe(0));
    const wait = hook.current.status!.retryAt! - Date.now();
    // It owes 3, and the call needs 2.
    expect(wait).toBeGreaterThan(5 * HOUR - MINUTE);
    expect(wait).toBeLessThanOrEqual(5 * HOUR);
  });

  it.each([
    ["logIn", 5, 15 * MINUTE, 0, 15 * MINUTE + 12 * SECOND],
    ["brief", 2, 1200, 0, 1210],
    // The first window that starts after the block.
    ["window", 2, 3 * SECOND, 2, 3 * SECOND],
    ["anew", 2, 2500, 2, 2500],
  ] as const)("shows when the block of %s ends, to the ms", async (...scenario) => {
    const [name, count, closed, opens, wait] = scenario;
    let now = Date.UTC(2030, 0, 1);
    await using page = await startPage({ clock: () => now });
    const hook = await page.follow(name);
    await page.limiter.limit(name, { count });
    const { retryAfter } = await page.limiter.limit(name);
    expect(retryAfter).toBe(wait);
    await soon(() => expect(hook.current.check()!.closedUntil).toBeDefined());
    const { retryAt } = hook.current.status!;
    const { current } = hook;
    const closedUntil = current.check()!.closedUntil!;
    expect(Math.round(current.check(closedUntil)!.now)).toBe(now + closed);
    expect(current.check(closedUntil - 1, 0)).toMatchObject({ retryAt: closedUntil, closedUntil });
    expect(current.check(closedUntil, 0)).toMatchObject({ value: opens, retryAt: undefined });
    expect(current.check(closedUntil, 0)!.closedUntil).toBeUndefined();
    expect(current.check(retryAt! - 1)).toMatchObject({ retryAt });
    expect(current.check(retryAt)!.retryAt).toBeUndefined();
    // By the server's clock, that is the end of the block.
    expect(Math.round(current.check(retryAt)!.now)).toBe(now + wait);
    now += wait - 1;
    expect((await page.limiter.check(name)).ok).toBe(false);
    now += 1;
    expect((await page.limiter.check(name)).ok).toBe(true);
  });

  it("counts a block down and ends it by itself, when the server does", async () => {
    await using page = await startPage();
    function Shown() {
      const { status } = useRateLimit("brief");
      if (status?.ok === false) {
        return (
          <p data-testid="brief">
            Wait <RateLimitCountdown retryAt={status.retryAt} />
          </p>
        );
      }
      return <p data-testid="brief">{status ? "ok" : "unknown"}</p>;
    }
    render(<Shown />, { wrapper: page.wrapper });
    await soon(() => expect(textOf("brief")).toBe("ok"));
    await soon(() => expect(page.server.open("rateLimit.watch")).toBe(1));
    await page.limiter.limit("brief", { count: 2 });
    const denied = page.limiter.limit("brief", { throws: true });
    await expect(denied).rejects.toThrow("Try again in");
    await soon(() => expect(textOf("brief")).toMatch(/^Wait [12]s$/));
    const requests = page.server.requests();
    await soon(() => expect(textOf("brief")).toBe("ok"));
    // The page knows the server's clock to within a few ms.
    await soon(async () => expect((await page.limiter.check("brief")).ok).toBe(true));
    expect(page.server.requests()).toBe(requests);
  });

  it("opens again at the end of a month in a leap year, with what was carried over", async () => {
    // Time enough to connect on a busy machine.
    await using page = await startPage({ clock: runningFrom(EVE - 2500) });
    const hook = await page.follow("monthly", 2);
    await page.limiter.limit("monthly", { count: 3 });
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: false }, value: 1 }));
    // The 29th is the last day of that February, and 1 + 2 are left then.
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: true }, value: 3 }));
    // The page knows the server's clock to within a few ms.
    await soon(async () => {
      expect((await page.limiter.limit("monthly", { count: 3 })).ok).toBe(true);
    });
    await soon(() => expect(hook.current).toMatchObject({ status: { ok: false }, value: 0 }));
    const { retryAt } = hook.current.status!;
    const next = Date.UTC(2028, 2, 31, 10);
    expect(Math.round(hook.current.check(retryAt)!.now)).toBe(next);
    expect(hook.current.check(retryAt! - 1)!.retryAt).toBe(retryAt);
  });

  it.each(["logIn", "window", "monthly", "few"] as const)(
    "predicts what the server decides, at every moment, for %s",
    async (name) => {
      let now = EVE;
      await using page = await startPage({ clock: () => now });
      const hook = await page.follow(name);
      const { capacity = limits[name].rate } = limits[name] as { capacity?: number };
      const result = await page.limiter.limit(name, { count: capacity });
      await page.limiter.settle(result, capacity - 0.25);
      await page.limiter.limit(name);
      const [snapshot] = await page.limiter.snapshots([{ name }]);
      await soon(() => {
        const checked = hook.current.check()!;
        const { value } = calculateRateLimit(snapshot!, snapshot!.config, checked.now, 1);
        expect(checked.value).toBeCloseTo(value, 6);
      });
      const from = Date.now();
      const { current } = hook;
      const times = [0, 1, 999, 1500, 1501, 12_000, 15 * MINUTE, 15 * MINUTE + 12_000, HOUR];
      for (const ms of [...times, 5 * HOUR, 30 * DAY, 31 * DAY + 1500]) {
        for (const count of [1, capacity / 2, capacity]) {
          const predicted = current.check(from + ms, count)!;
          now = Math.floor(predicted.now);
          const decided = await page.limiter.check(name, { count });
          const { value } = calculateRateLimit(snapshot!, snapshot!.config, predicted.now, count);
          expect(predicted.value).toBeCloseTo(value, 9);
          // Half a ms of the clock's rounding can lie between the two.
          if (predicted.retryAt === undefined) expect(decided.retryAfter ?? 0).toBeLessThan(2);
          else expect(Math.abs(decided.retryAfter! + now - serverTime(predicted))).toBeLessThan(2);
        }
      }
      function serverTime({ retryAt, now: at }: { retryAt: number | undefined; now: number }) {
        const offset = hook.current.check(from)!.now - from;
        expect(at).toBeGreaterThan(0);
        return retryAt! + offset;
      }
    },
  );
});

describe("a shadow on a page", () => {
  it("withholds nothing: its status stays ok, and a mutation sends at once", async () => {
    await using page = await startPage();
    const sent: number[] = [];
    const mutationFn = async (n: number) => {
      sent.push(n);
      return page.client.take.mutate({ name: "trial" });
    };
    const statuses: (boolean | undefined)[] = [];
    const { result } = renderHook(
      () => {
        const mutation = useRateLimitedMutation("trial", { mutationFn, whenLimited: "wait" });
        statuses.push(mutation.limit.status?.ok);
        return mutation;
      },
      { wrapper: page.wrapper },
    );
    await soon(() => expect(result.current.limit.connection).toBe("live"));
    for (let n = 0; n < 6; n++) {
      expect(result.current.canMutate).toBe(true);
      await act(() => result.current.mutateAsync(n));
    }
    expect(sent).toEqual([0, 1, 2, 3, 4, 5]);
    await soon(() =>
      expect(result.current).toMatchObject({ isSuccess: true, limit: { value: 0 } }),
    );
    expect(result.current).toMatchObject({ canMutate: true, held: 0 });
    expect(statuses).not.toContain(false);
    expect(result.current.limit.check(undefined, 3)!.retryAt).toBeUndefined();
  });
});
