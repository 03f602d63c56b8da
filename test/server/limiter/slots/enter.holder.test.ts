/** A call with the id of a slot's holder takes that slot over. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  type EnterGranted,
  type EnterOptions,
  type EnterResult,
} from "../../../../server/index.js";
import { soon } from "../../../support/soon.js";
import { storesAndRedis } from "../../../support/stores.js";

const limits = {
  streams: { kind: "concurrency", slots: 2, ttl: 10_000 },
  brief: { kind: "concurrency", slots: 1, ttl: 1000 },
} as const;
const key = "ada";

describe.each(storesAndRedis)("the holder of a slot on %s", (_name, open) => {
  /** Two limiters on the same rows, as of two processes. */
  async function opened(random = Math.random) {
    const { store, peer, [Symbol.asyncDispose]: close } = await open({ isNew: true });
    onTestFinished(() => close());
    const clock = createManualClock(1e12);
    const sleep = () => new Promise<void>((resolve) => setTimeout(resolve, 1));
    const [limiter, other] = [store, peer].map((of) =>
      createRateLimiter({ store: of as never, limits, clock, sleep, random }),
    ) as [ReturnType<typeof make>, ReturnType<typeof make>];
    const free = async () => (await other.check("streams", { key })).value;
    return { limiter, other, free };
  }
  const make = () => createRateLimiter({ store: undefined as never, limits });
  type Limiter = ReturnType<typeof make>;

  type Options = Pick<EnterOptions, "holder" | "maxWait" | "onPlace">;
  const entering = async (of: Limiter, options: Options) =>
    granted(await of.enter("streams", { key, ...options }));

  /** Resolves once the caller stands in line. */
  async function joined(of: Limiter, holder?: string) {
    let join = () => {};
    const isIn = new Promise<void>((resolve) => (join = resolve));
    const slot = entering(of, { holder, maxWait: Infinity, onPlace: () => join() });
    await isIn;
    return { slot };
  }

  it("loses it to a later call with its id, where none is free, and frees no other's", async () => {
    const { limiter, other, free } = await opened();
    const first = await entering(limiter, { holder: "page 1" });
    await entering(limiter, { holder: "page 2" });
    const stranger = await other.enter("streams", { key, holder: "page 3" });
    expect(stranger).toMatchObject({ ok: false, value: 0 });
    expect(await other.enter("streams", { key: "bob", holder: "page 1" })).toMatchObject({
      ok: true,
    });
    const later = await entering(other, { holder: "page 1" });
    expect(await free()).toBe(0);
    await first.release();
    expect(await free()).toBe(0);
    await later.release();
    expect(await free()).toBe(1);
  });

  it("is told at its next renewal that another call has taken it over", async () => {
    const { limiter, other } = await opened();
    const holder = "page 1";
    const first = granted(await limiter.enter("brief", { key, holder }));
    const later = granted(await other.enter("brief", { key, holder }));
    await soon(() => expect(first.signal.aborted).toBe(true));
    expect(first.isTakenOver).toBe(true);
    expect([later.isTakenOver, later.signal.aborted]).toEqual([false, false]);
    await later.release();
  });

  it("gives it to a caller in line with the same id, and the line goes on", async () => {
    const { limiter, other, free } = await opened();
    const first = await entering(limiter, { holder: "page 1" });
    await entering(limiter, { holder: "page 2" });
    const early = await joined(limiter, "page 3");
    const late = await joined(other, "page 3");
    const next = await joined(limiter);
    // Who stands in line takes over the same slot as who does not.
    const again = await entering(other, { holder: "page 1" });
    await first.release();
    expect(await free()).toBe(0);
    await again.release();
    const [one, two] = [await early.slot, await late.slot];
    await one.release();
    expect(await free()).toBe(0);
    await two.release();
    const last = await next.slot;
    await last.release();
    expect(await free()).toBe(1);
  });

  it("holds one slot, and others no more than the rest, while processes race for its id", async () => {
    const { limiter, other, free } = await opened();
    for (let round = 0; round < 10; round++) {
      const calls = ["page 1", "page 2", "page 1", "page 3"].flatMap((holder) =>
        [limiter, other].map((of) => ({ holder, call: of.enter("streams", { key, holder }) })),
      );
      const held: { holder: string; slot: EnterGranted }[] = [];
      for (const { holder, call } of calls) {
        const slot = await call;
        if (slot.ok) held.push({ holder, slot });
      }
      expect(new Set(held.map(({ holder }) => holder)).size).toBe(2);
      expect(await free()).toBe(0);
      // The slot of an id is that of its last call. The releases of the others free nothing.
      for (const { holder, slot } of held) if (holder === held[0]!.holder) await slot.release();
      expect(await free()).toBe(1);
      for (const { slot } of held) await slot.release();
      expect(await free()).toBe(2);
    }
  });

  it("has one slot for all calls with one id, also where they enter at once", async () => {
    const { limiter, other, free } = await opened();
    for (let round = 0; round < 10; round++) {
      const holder = "page 1";
      const slots = await Promise.all([limiter, other].map((of) => entering(of, { holder })));
      expect(await free()).toBe(1);
      for (const slot of slots) await slot.release();
      expect(await free()).toBe(2);
    }
  });

  it("is told apart in rows with a short nonce, as of older versions, and with the widest", async () => {
    let drawn = 0;
    const { limiter, other, free } = await opened(() => drawn);
    drawn = 2 ** -10;
    const short = await entering(limiter, {});
    drawn = 1 - 2 ** -31;
    const wide = await entering(other, {});
    expect(await other.enter("streams", { key })).toMatchObject({ ok: false, value: 0 });
    const { slot } = await joined(limiter);
    await wide.release();
    await (await slot).release();
    expect(await free()).toBe(1);
    await short.release();
    expect(await free()).toBe(2);
  });
});

function granted(result: EnterResult): EnterGranted {
  if (!result.ok) throw new Error(`denied, with ${result.value} slots that are free`);
  return result;
}
