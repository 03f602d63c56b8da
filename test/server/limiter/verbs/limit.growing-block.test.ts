/** `blockFor` as a list: each closing is longer than the one before, until a quiet time. */
import { beforeEach, describe, expect, it } from "vitest";
import { HOUR, MINUTE, SECOND } from "../../../../server/index.js";
import { storesAndRedis } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const BLOCKS = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const;
const limits = {
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: BLOCKS },
  patient: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: BLOCKS, forgiveAfter: HOUR },
  window: { kind: "fixed window", rate: 2, period: 10 * MINUTE, start: 0, blockFor: BLOCKS },
  anew: {
    kind: "fixed window",
    rate: 2,
    period: HOUR,
    start: 0,
    blockFor: BLOCKS,
    afterBlock: "new window",
  },
  plain: { kind: "token bucket", rate: 5, period: MINUTE },
} as const;
type Name = Exclude<keyof typeof limits, "plain">;
const key = "user 1";
/** Until one token of five a minute is there. */
const ONE = MINUTE / 5;

describe.each(storesAndRedis)("a limit with a list of blockFor on %s", (_, open) => {
  async function setUp() {
    const at = await twoProcesses(open, limits, { now: Date.UTC(2030, 0, 1) });
    const { clock, limiter, peer } = at;
    /** Uses up the bucket, is denied, and waits for the end of the closing. Its length, ms. */
    async function close(name: Name): Promise<number> {
      let denied = await limiter.limit(name, { key });
      while (denied.ok) denied = await peer.limit(name, { key });
      const again = await peer.limit(name, { key });
      expect(again).toEqual(denied);
      clock.advance(denied.retryAfter);
      return denied.retryAfter;
    }
    return { ...at, close };
  }

  let at: Awaited<ReturnType<typeof setUp>>;
  beforeEach(async () => {
    at = await setUp();
  });

  it("is closed for longer each time, and then for the longest time", async () => {
    const lengths = [];
    for (let i = 0; i < 5; i++) lengths.push(await at.close("logIn"));
    const [one, two, three] = BLOCKS;
    expect(lengths).toEqual([one, two, three, three, three].map((ms) => ms + ONE));
  });

  it("begins anew after a quiet time since the end of the last closing, to the ms", async () => {
    await at.close("patient");
    await at.close("patient");
    // It has opened a token's time ago.
    at.clock.advance(HOUR - ONE - 1);
    expect(await at.limiter.limit("patient", { key, count: 5 })).toMatchObject({ ok: true });
    expect(await at.close("patient")).toBe(15 * MINUTE + ONE);
    at.clock.advance(HOUR - ONE);
    expect(await at.close("patient")).toBe(MINUTE + ONE);
  });

  it("forgives after the longest closing by default", async () => {
    await at.close("logIn");
    await at.close("logIn");
    at.clock.advance(15 * MINUTE - ONE);
    expect(await at.close("logIn")).toBe(MINUTE + ONE);
  });

  it("begins anew after a reset", async () => {
    await at.close("logIn");
    await at.close("logIn");
    await at.peer.reset("logIn", { key });
    expect(await at.close("logIn")).toBe(MINUTE + ONE);
  });

  it("counts the closings of each key alone, and of all limits that deny together", async () => {
    await at.close("logIn");
    for (let i = 0; i < 5; i++) await at.limiter.limit("logIn", { key: "user 2" });
    const denied = await at.limiter.limit("logIn", { key: "user 2" });
    expect(denied.retryAfter).toBe(MINUTE + ONE);
    await at.limiter.limit("logIn", { key, count: 1 });
    const items = [
      { name: "plain", key },
      { name: "logIn", key },
    ] as const;
    expect(await at.peer.limitAll(items)).toMatchObject({
      ok: false,
      retryAfter: 5 * MINUTE + ONE,
    });
    expect((await at.limiter.getValue("plain", { key })).value).toBe(5);
    at.clock.advance(5 * MINUTE + ONE);
    await at.limiter.limitAll(items);
    expect(await at.peer.limitAll(items)).toMatchObject({ retryAfter: 15 * MINUTE + ONE });
  });

  it("keeps a fixed window closed until a window after the block, and counts from there", async () => {
    expect(await at.close("window")).toBe(10 * MINUTE);
    expect(await at.close("window")).toBe(10 * MINUTE);
    expect(await at.close("window")).toBe(20 * MINUTE);
    // Opened 15 minutes ago, which is the default of forgiveAfter.
    at.clock.advance(15 * MINUTE);
    await at.limiter.limit("window", { key, count: 2 });
    expect(await at.close("window")).toBe(5 * MINUTE);
  });

  it("opens with a new window at the end of each closing", async () => {
    const lengths = [];
    for (let i = 0; i < 4; i++) lengths.push(await at.close("anew"));
    expect(lengths).toEqual([...BLOCKS, 15 * MINUTE]);
  });

  it("grants reservations and takes like other limits meanwhile", async () => {
    const reserved = await at.limiter.limit("logIn", { key, count: 7, reserve: true });
    expect(reserved).toMatchObject({ ok: true, retryAfter: 24 * SECOND });
    // A bucket that owes is not closed by a denial: it has to have granted a call since.
    at.clock.advance(24 * SECOND + ONE);
    expect(await at.close("logIn")).toBe(MINUTE + ONE);
  });

  it("does not show its rows in a list, and forgets them with the key", async () => {
    await at.close("logIn");
    await at.close("logIn");
    expect((await at.limiter.list("logIn")).items).toHaveLength(1);
    expect(await at.limiter.forget(key)).toBe(2);
    expect(await at.close("logIn")).toBe(MINUTE + ONE);
  });
});

describe.each(storesAndRedis.filter(([name]) => name !== "Redis"))("pruned on %s", (_, open) => {
  it("keeps what counts closings until they are forgiven", async () => {
    const { clock, limiter, store } = await twoProcesses(open, limits);
    await limiter.limit("patient", { key, count: 5 });
    await limiter.limit("patient", { key });
    const rows = async () =>
      (await store.list!("trpc-rate-limit:strikes:patient", undefined, 10)).length;
    clock.advance(MINUTE + HOUR + MINUTE - 1);
    await limiter.prune();
    expect(await rows()).toBe(1);
    clock.advance(1);
    await limiter.prune();
    expect(await rows()).toBe(0);
  });
});
