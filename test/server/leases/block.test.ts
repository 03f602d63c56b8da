import { describe, expect, it } from "vitest";
import { MINUTE } from "../../../server/index.js";
import type { Block } from "../../../server/leases/block.js";
import { Lease } from "../../../server/leases/lease.js";
import { leaseTerms } from "../../../server/leases/lease-terms.js";

const EPOCH = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 600, period: MINUTE } as const;
const window = { kind: "fixed window", rate: 600, period: MINUTE, start: 0 } as const;

/** The clocks of a process, which a test moves one by one. */
function setUp(config: typeof bucket | typeof window, ms = 1000) {
  const times = { monotonic: 5000, wall: EPOCH, limiter: EPOCH, behind: 0 };
  const lease = new Lease(leaseTerms(config, ms), {
    monotonic: () => times.monotonic,
    wall: () => times.wall,
    limiter: () => times.limiter,
    behind: () => times.behind,
  });
  const pass = (passed: number) => {
    for (const clock of ["monotonic", "wall", "limiter"] as const) times[clock] += passed;
  };
  return { times, lease, pass };
}

/** A block whose take was answered at once. */
function blockOf({ lease }: ReturnType<typeof setUp>, ts = EPOCH): Block {
  return lease.blockOf({ size: 10, row: { value: 100, ts }, now: EPOCH }, lease.instant());
}

/** It lives until this time has passed on all clocks. */
function expectToEnd({ pass }: ReturnType<typeof setUp>, block: Block, ms: number): void {
  pass(ms - 1);
  expect(block.isLiving()).toBe(true);
  pass(1);
  expect(block.isLiving()).toBe(false);
}

describe("a block", () => {
  it("lives for its time, but for what two clocks may differ by", () => {
    const at = setUp(bucket);
    const block = blockOf(at);
    expectToEnd(at, block, 990);
  });

  it("lives from when its take was sent, however late the answer comes", () => {
    const at = setUp(bucket);
    const sentAt = at.lease.instant();
    at.pass(600);
    const taken = { size: 10, row: { value: 100, ts: at.times.limiter }, now: at.times.limiter };
    const block = at.lease.blockOf(taken, sentAt);
    expectToEnd(at, block, 390);
  });

  it.each([
    ["the machine slept, and the monotonic clock stood still", ["wall"]],
    ["the store's clock was corrected", ["limiter"]],
    ["the other two were set back", ["monotonic"]],
  ] as const)("is over if %s", (_, moving) => {
    const at = setUp(bucket);
    const block = blockOf(at);
    for (const clock of moving) at.times[clock] += 1000;
    expect(block.isLiving()).toBe(false);
  });

  it("does not live again when a clock is set back", () => {
    const at = setUp(bucket);
    const block = blockOf(at);
    at.times.wall += 3600_000;
    expect(block.isLiving()).toBe(false);
    at.times.wall -= 3600_000;
    expect(block.isLiving()).toBe(false);
  });

  it("is not prolonged by a clock that is set back", () => {
    const at = setUp(bucket);
    const block = blockOf(at);
    at.times.limiter -= 3600_000;
    at.times.wall -= 3600_000;
    expectToEnd(at, block, 990);
  });

  it("of a row from the future lives no longer", () => {
    for (const config of [bucket, window]) {
      const at = setUp(config);
      const block = blockOf(at, EPOCH + 10 * MINUTE);
      at.pass(config.kind === "fixed window" ? MINUTE : 1000);
      expect(block.isLiving()).toBe(false);
    }
  });

  it("of a window ends before its window does, on each clock", () => {
    for (const clock of ["monotonic", "wall", "limiter"] as const) {
      const at = setUp(window);
      at.pass(1000);
      const now = at.times.limiter;
      const taken = { size: 10, row: { value: 100, ts: EPOCH }, now };
      const block = at.lease.blockOf(taken, at.lease.instant());
      at.times[clock] += MINUTE - 1000 - 11;
      expect(block.isLiving()).toBe(true);
      at.times[clock] += 1;
      expect(block.isLiving()).toBe(false);
    }
  });

  it("of a window ends earlier by what its process may be behind the database", () => {
    const at = setUp(window);
    at.times.behind = 60;
    const block = blockOf(at);
    expectToEnd(at, block, MINUTE - 70);
  });

  it("gives no more than it has, and takes back no more than it gave", () => {
    const block = blockOf(setUp(bucket));
    expect([block.take(7), block.take(4), block.take(3)]).toEqual([true, false, true]);
    block.giveBack(6);
    expect(block.remaining).toBe(6);
    block.giveBack(6);
    expect(block.remaining).toBe(10);
  });
});
