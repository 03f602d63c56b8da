/** Takes of a limit with `warnAt`, where this process knows the row from an earlier window. */
import { describe, expect, it } from "vitest";
import { HOUR } from "../../../../server/index.js";
import { stores } from "../../../support/stores.js";
import { twoProcesses } from "../../../support/two-processes.js";

const limits = {
  // What was not used is carried over: 19 that are used at the end of a window are 9 in the next one.
  carried: {
    kind: "fixed window",
    rate: 10,
    capacity: 20,
    period: HOUR,
    start: 0,
    warnAt: [0.25, 0.9],
  },
} as const;
const key = "ann";
type Processes = Awaited<ReturnType<typeof twoProcesses<typeof limits>>>;

describe.each(stores)("a level that is reached at the start of a window, on %s", (_, open) => {
  /** The limiter has seen 6 of 20 used, and its peer 19. Then the next window begins, with 9 used. */
  async function setUp() {
    const at = await twoProcesses(open, limits);
    await at.limiter.limit("carried", { key, count: 6 });
    const taken = await at.peer.limit("carried", { key, count: 13 });
    expect(await levels(at)).toEqual([0.25, 0.9]);
    at.clock.advance(HOUR);
    expect((await at.limiter.getValue("carried", { key })).value).toBe(11);
    return { ...at, taken };
  }
  const levels = async ({ limiter }: Pick<Processes, "limiter">) =>
    (await limiter.warnings("carried")).map(({ level }) => level);

  it("is crossed by the first call in that window", async () => {
    const at = await setUp();
    await at.limiter.limit("carried", { key });
    expect(await levels(at)).toEqual([0.25, 0.9, 0.25]);
    await at.limiter.limit("carried", { key });
    await at.peer.limit("carried", { key });
    expect(await levels(at)).toEqual([0.25, 0.9, 0.25]);
  });

  it("is crossed by the first call that is committed", async () => {
    const at = await setUp();
    const rolledBack = at.limiter.transaction(async ({ limit }) => {
      await limit("carried", { key });
      throw new Error("no");
    });
    await expect(rolledBack).rejects.toThrow("no");
    expect(await levels(at)).toEqual([0.25, 0.9]);
    await at.limiter.limit("carried", { key });
    expect(await levels(at)).toEqual([0.25, 0.9, 0.25]);
  });

  it("is crossed by the first call after tokens came back in that window", async () => {
    const at = await setUp();
    await at.peer.settle(at.taken, 12);
    expect((await at.limiter.getValue("carried", { key })).value).toBe(12);
    await at.limiter.limit("carried", { key });
    expect(await levels(at)).toEqual([0.25, 0.9, 0.25]);
  });
});
