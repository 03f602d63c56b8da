import { describe, expect, it } from "vitest";
import { createRateLimiter, memoryStore, type RateLimitConfig } from "../../server/index.js";

describe("a limiter with slots", () => {
  const limits = {
    generations: { kind: "concurrency", slots: 2 },
    sends: { kind: "token bucket", rate: 1, period: 1000 },
  } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  const untyped = limiter as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

  it.each(["limit", "acquire", "charge", "refund"])(
    "says what to use instead of %s()",
    async (of) => {
      await expect(async () => untyped[of]!("generations")).rejects.toThrow(
        '"generations" is of kind "concurrency", which has slots and no tokens; use enter()',
      );
    },
  );

  it("takes no slot by limitAll, and no config of slots for tokens", async () => {
    await expect(untyped["limitAll"]!([{ name: "generations" }])).rejects.toThrow("use enter()");
    const config = limits.generations as unknown as RateLimitConfig;
    await expect(limiter.limit("sends", { config })).rejects.toThrow("use enter()");
    await expect(untyped["enter"]!("sends")).rejects.toThrow(
      'enter() needs the name of a limit of kind "concurrency", got "sends"',
    );
    await expect(untyped["enter"]!("generations", { count: 2 })).rejects.toThrow(
      "count is not an option of enter()",
    );
  });

  it("needs a name that leaves room for that of its line", () => {
    const make = (length: number) =>
      createRateLimiter({
        store: memoryStore(),
        limits: { ["n".repeat(length)]: { kind: "concurrency", slots: 2 } },
      });
    expect(() => make(170)).not.toThrow();
    expect(() => make(171)).toThrow("needs a name of at most 170 characters");
  });

  it("prunes slots whose ttl has passed, and the seats of their lines", async () => {
    let now = 1e12;
    const store = memoryStore();
    const timed = createRateLimiter({ store, limits, clock: () => now });
    await timed.enter("generations", { key: "ada" });
    const held = await timed.enter("generations", { key: "ada" });
    const waiting = timed.enter("generations", { key: "ada", maxWait: Infinity });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await timed.prune()).toBe(0);
    if (held.ok) await held.release();
    expect(await waiting).toMatchObject({ ok: true });
    // The row of a slot for which callers have waited stays for 1024 + 17 + 600,000 / 1024 ttls.
    now += 1628 * 600_000;
    expect(await timed.prune()).toBe(2);
  });
});
