/** Whatever happens on the server, an observer that has heard of it predicts what it would decide. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRateLimitObserver, type RateLimitTransport } from "../../client/index.js";
import { createManualClock } from "../../core/testing.js";
import { DAY, HOUR, MINUTE, SECOND } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
import { settled, soon } from "../support/soon.js";

const LIMITS = {
  bucket: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  slow: { kind: "token bucket", rate: 1 / 3, period: 7 * SECOND, capacity: 5 },
  windowed: { kind: "fixed window", rate: 4, period: HOUR },
  piling: { kind: "fixed window", rate: 2, period: MINUTE, capacity: 6, start: 17 },
  owing: { kind: "token bucket", rate: 5, period: SECOND, maxReserved: 12 },
  owingWindows: { kind: "fixed window", rate: 3, period: 10 * SECOND, maxReserved: 7 },
  sharded: { kind: "token bucket", rate: 12, period: MINUTE, shards: 4 },
} as const;
const NAMES = Object.keys(LIMITS) as (keyof typeof LIMITS)[];

const time = fc.oneof(
  fc.integer({ min: 0, max: 20_000 }),
  fc.constantFrom(0, 1, 6000, MINUTE, HOUR, DAY),
);
const count = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.double({ min: 0.01, max: 3, noNaN: true }),
);
const step = fc.oneof(
  fc.record({ act: fc.constant("limit" as const), count, reserve: fc.boolean() }),
  fc.record({ act: fc.constant("refund" as const), count }),
  fc.record({ act: fc.constant("reset" as const) }),
  fc.record({ act: fc.constant("pass" as const), ms: time }),
  fc.record({ act: fc.constant("debit" as const), count }),
);

type Mirror = Awaited<ReturnType<typeof startMirror<typeof LIMITS>>>;

/** The real router without a network, so that an answer takes no time. */
function directTransport(mirror: Mirror): RateLimitTransport {
  const caller = mirror.router.createCaller({});
  return {
    status: ({ name, key }) => caller.rateLimit.status({ name: name as "bucket", key }),
    // A stream that is up and has nothing to tell.
    watch: () => () => {},
  };
}

describe("an observer of a limiter", () => {
  it.each(NAMES)("agrees with it on %s after every step", async (name) => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const item = { name };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 12 }),
        fc.constantFrom(0, HOUR, -HOUR),
        async (steps, skew) => {
          const local = () => clock() + skew;
          const observer = createRateLimitObserver({
            transport: directTransport(mirror),
            clock: local,
          });
          observer.observe(item, 1, () => {});
          const heard = () => new Promise((resolve) => setImmediate(resolve));
          await heard();
          for (const { act, ...how } of steps) {
            const {
              count: tokens = 1,
              reserve = false,
              ms = 0,
            } = how as Partial<{
              count: number;
              reserve: boolean;
              ms: number;
            }>;
            if (act === "limit") await mirror.limiter.limit(name, { count: tokens, reserve });
            if (act === "refund") await mirror.limiter.refund(name, { count: tokens });
            if (act === "reset") await mirror.limiter.reset(name);
            if (act === "debit") observer.debit(item, tokens);
            if (act === "pass") clock.advance(ms);
            // Time needs no news, except that of four shards one may be full before the others.
            if (act !== "pass" || name === "sharded") {
              observer.refresh();
              await heard();
            }
            const { value, ts, config } = await mirror.limiter.getValue(name);
            const held = observer.check(item, local(), 0)!;
            expect(held.value).toBeCloseTo(value, 6);
            expect(held.now).toBe(clock());
            expect(ts).toBeLessThanOrEqual(clock());
            expect(observer.config(item)).toEqual(config);
            // A call sees two shards of four, and nobody can tell which.
            if (name === "sharded") continue;
            for (const wanted of [0, 1, 2.5]) {
              const { ok, retryAfter } = await mirror.limiter.check(name, { count: wanted });
              const retryAt = ok ? undefined : local() + retryAfter;
              expect(observer.check(item, local(), wanted)!.retryAt).toBe(retryAt);
              expect(observer.status(item, wanted)).toEqual({ ok, retryAt });
            }
          }
          observer.close();
          await mirror.limiter.reset(name);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe.concurrent("two tabs of one visitor", () => {
  it("agree with each other and with the server, though their clocks do not", async () => {
    const clock = createManualClock();
    await using mirror = await startMirror(LIMITS, { clock });
    const [ahead, behind] = [() => clock() + HOUR, () => clock() - HOUR];
    const tabs = [ahead, behind].map((local) => ({
      local,
      observer: mirror.observer({ clock: local }),
    }));
    const item = { name: "bucket" };
    for (const { observer } of tabs) observer.observe(item, 1, () => {});
    await soon(() => {
      for (const { observer } of tabs) expect(observer.connection).toBe("live");
    });
    await settled(() => mirror.server.open("rateLimit.status"));
    // The first one sends; the second one hears of it.
    tabs[0]!.observer.debit(item, 3);
    await mirror.limiter.limit("bucket", { count: 3 });
    for (const { observer, local } of tabs) {
      const told = { ok: false, retryAt: local() + 6000 };
      await soon(() => expect(observer.status(item, 1)).toEqual(told));
    }
    clock.advance(6000);
    for (const { observer } of tabs) {
      expect(observer.status(item, 1)).toEqual({ ok: true });
      expect(observer.status(item, 2)?.ok).toBe(false);
    }
  });
});

describe.concurrent("a stream that dies and comes back", () => {
  it("has told all that happened meanwhile, with an hour between the clocks", async () => {
    await using mirror = await startMirror(LIMITS, { clock: () => Date.now() - HOUR });
    const observer = mirror.observer({ pollInterval: 60_000 });
    const item = { name: "windowed" };
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(true));
    await mirror.server.kill();
    await soon(() => expect(observer.connection).toBe("offline"));
    await mirror.limiter.limit("windowed", { count: 4 });
    await mirror.server.restart();
    await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
    const { retryAfter } = await mirror.limiter.check("windowed");
    const truth = Date.now() + retryAfter!;
    await soon(() => {
      expect(Math.abs(observer.status(item, 1)!.retryAt! - truth)).toBeLessThan(1000);
    });
  });
});
