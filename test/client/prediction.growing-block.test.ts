/** After each closing of a list of `blockFor`, a page predicts the server's answer. */
import { expect, it } from "vitest";
import { HOUR, MINUTE } from "../../server/index.js";
import { createWorld, follow } from "../support/world.js";

const blockFor = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const;
const LIMITS = {
  bucket: { kind: "token bucket", rate: 20, period: HOUR, capacity: 2, blockFor },
  window: { kind: "fixed window", rate: 2, period: HOUR, start: 0, blockFor },
  anew: {
    kind: "fixed window",
    rate: 2,
    period: HOUR,
    start: 0,
    blockFor,
    afterBlock: "new window",
  },
} as const;

it.each(["bucket", "window", "anew"] as const)(
  "a page and the server agree on when a limit opens that closes for longer each time (%s)",
  async (name) => {
    const world = createWorld(LIMITS);
    const { limiter, at, steady } = world;
    const follower = await follow(world, name, 0, [0, 0]);
    const { observer, item, local } = follower;
    let longest = 0;
    for (let closing = 0; closing < 4; closing++) {
      let answer = await limiter.limit(name);
      while (answer.ok) answer = await limiter.limit(name);
      const { retryAfter } = answer;
      await follower.deliver("polled");
      expect(observer.status(item, 1)).toEqual({ ok: false, retryAt: local() + retryAfter });
      const check = await limiter.check(name);
      expect(check.retryAfter).toBe(retryAfter);
      expect(observer.config(item)?.blockFor).toEqual(blockFor);
      steady.advance(retryAfter - 1);
      expect(observer.status(item, 1)?.ok).toBe(false);
      expect((await at(world.clock(), () => limiter.check(name))).ok).toBe(false);
      steady.advance(1);
      expect(observer.status(item, 1)?.ok).toBe(true);
      expect((await limiter.check(name)).ok).toBe(true);
      expect(retryAfter).toBeGreaterThanOrEqual(name === "window" ? 1 : longest);
      longest = Math.max(longest, retryAfter);
    }
  },
);
