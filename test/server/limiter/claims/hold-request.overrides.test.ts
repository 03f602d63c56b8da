/** The terms of holds, while an override answers the calls of a key. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, MINUTE, WEEK } from "../../../../server/index.js";

const key = "user 1";
const keep = { for: MINUTE, then: "keep" } as const;
const limits = {
  tokens: { kind: "token bucket", rate: 100, period: MINUTE, holds: true },
  plain: { kind: "token bucket", rate: 10, period: MINUTE },
} as const;

describe.each([{ blocked: true }, { unlimited: true }] as const)("under %o", (rule) => {
  async function open() {
    const limiter = createRateLimiter({ store: memoryStore(), limits, overrides: true });
    for (const name of ["tokens", "plain"] as const) {
      await limiter.overrides.set(name, { key, ...rule });
    }
    return limiter;
  }
  type Limiter = Awaited<ReturnType<typeof open>>;

  const calls: Record<string, (limiter: Limiter, options: object) => Promise<unknown>> = {
    limit: (limiter, options) => limiter.limit("tokens", { key, ...options }),
    check: (limiter, options) => limiter.check("tokens", { key, ...options }),
    acquire: (limiter, options) => limiter.acquire("tokens", { key, ...options }),
    limitAll: (limiter, { count, ...options }: { count?: number }) =>
      limiter.limitAll([{ name: "tokens", key, ...(count !== undefined && { count }) }], options),
    limitFirst: (limiter, options) => limiter.limitFirst(["tokens"], { key, ...options }),
  };

  it.each(Object.keys(calls))("%s refuses a hold that it would refuse without it", async (verb) => {
    const limiter = await open();
    for (const [options, message] of [
      [{ hold: keep }, /hold needs once/],
      [{ once: "a", hold: true }, /hold must be an object/],
      [{ once: "a", hold: { ...keep, for: "soon" } }, /hold.for must be a whole number/],
      [{ once: "a", hold: { ...keep, for: 2 * WEEK } }, /at most the onceFor of "tokens"/],
      [{ once: "a", hold: { for: 1 } }, /hold.then must be "keep" or/],
      [{ once: "a", hold: keep, count: 0 }, /count must be above 0 with hold/],
    ] as const) {
      await expect(calls[verb]!(limiter, options)).rejects.toThrow(message);
    }
  });

  it("refuses a hold of a limit without holds", async () => {
    const limiter = await open();
    const options = { once: "a", hold: keep } as const;
    const message = /"plain" has no holds: add/;
    await expect(limiter.limit("plain", { key, ...options })).rejects.toThrow(message);
    await expect(limiter.limitAll([{ name: "plain", key }], options)).rejects.toThrow(message);
    await expect(limiter.limitFirst(["plain"], { key, ...options })).rejects.toThrow(message);
  });

  it("holds nothing", async () => {
    const limiter = await open();
    const of = { key, once: "a" };
    const { ok } = await limiter.limit("tokens", { ...of, hold: keep });
    expect(ok).toBe("unlimited" in rule);
    expect(await limiter.settle("tokens", of, 1)).toEqual({ settled: false, reason: "unknown" });
  });
});
