import { beforeEach, describe, expect, it } from "vitest";
import { createServerClock } from "../../client/clocks.js";

/** A server's clock that gets requests and messages at instants of a local clock. */
function startClock() {
  let now = 0;
  let set = 0;
  const clock = createServerClock(
    () => now + set,
    () => now,
    () => {},
  );
  return {
    get offset() {
      return clock.read().offset;
    },
    /** Returns whether the offset has changed, and the offset. So does a push. */
    roundTrip(sentAt: number, receivedAt: number, serverNow: number) {
      now = receivedAt;
      return [clock.roundTrip(receivedAt - sentAt, serverNow), clock.read().offset];
    },
    push(receivedAt: number, serverNow: number) {
      now = receivedAt;
      return [clock.push(serverNow), clock.read().offset];
    },
    /** Sets the local clock forward. */
    step(ms: number) {
      set += ms;
    },
  };
}

let clock: ReturnType<typeof startClock>;
beforeEach(() => {
  clock = startClock();
});

it("knows nothing before the first sample", () => {
  expect(clock.offset).toBeNaN();
});

describe("a round trip", () => {
  it("puts the server's now at its midpoint", () => {
    expect(clock.roundTrip(1_000, 1_100, 5_050)).toEqual([true, 4_000]);
  });

  it("handles a server that is behind this machine", () => {
    expect(clock.roundTrip(10_000, 10_200, 4_100)).toEqual([true, -6_000]);
  });

  it("rounds down, so that the server is asked late rather than early", () => {
    expect(clock.roundTrip(0, 101, 1_000)).toEqual([true, 949]);
    clock = startClock();
    expect(clock.roundTrip(1_000, 1_101, 0)).toEqual([true, -1_051]);
  });

  it("counts when it is shorter than the best so far, and not when it is longer", () => {
    expect(clock.roundTrip(0, 400, 1_250)).toEqual([true, 1_050]);
    expect(clock.roundTrip(500, 510, 1_505)).toEqual([true, 1_000]);
    expect(clock.roundTrip(600, 900, 1_780)).toEqual([false, 1_000]);
  });

  it("reports no change when it confirms what is known", () => {
    clock.roundTrip(0, 10, 1_005);
    expect(clock.roundTrip(100, 108, 1_104)).toEqual([false, 1_000]);
  });

  it("replaces what only pushes have reported, however long it took", () => {
    clock.push(0, 900);
    expect(clock.roundTrip(100, 2_100, 2_100)).toEqual([true, 1_000]);
  });
});

describe("a push", () => {
  it("is a first guess", () => {
    expect(clock.push(1_000, 5_000)).toEqual([true, 4_000]);
  });

  it("only raises", () => {
    clock.push(1_000, 5_000);
    expect(clock.push(2_000, 5_500)).toEqual([false, 4_000]);
    expect(clock.push(3_000, 7_001)).toEqual([true, 4_001]);
  });

  it("does not lower what a round trip has measured", () => {
    clock.roundTrip(0, 20, 1_010);
    expect(clock.push(100, 600)).toEqual([false, 1_000]);
  });

  it("raises what a round trip has measured only by more than its uncertainty", () => {
    clock.roundTrip(0, 20, 1_010);
    expect(clock.push(100, 100 + 1_000 + 11)).toEqual([false, 1_000]);
    expect(clock.push(100, 100 + 1_000 + 12)).toEqual([true, 1_012]);
  });
});

describe("a clock that was set", () => {
  it("shows in two round trips that cannot both be right, even if the second is longer", () => {
    clock.roundTrip(0, 10, 1_005);
    expect(clock.roundTrip(1_000, 1_200, 3_602_100)).toEqual([true, 3_601_000]);
    expect(clock.roundTrip(2_000, 2_400, 3_200)).toEqual([true, 1_000]);
  });

  it("is not seen in round trips that overlap", () => {
    clock.roundTrip(0, 10, 1_005);
    // 5 ms and 100 ms of uncertainty, and 1 ms for the rounding.
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 + 106)).toEqual([false, 1_000]);
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 - 106)).toEqual([false, 1_000]);
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 + 107)).toEqual([true, 1_107]);
  });

  it("shows in a push once this machine's clock is turned back", () => {
    expect(clock.roundTrip(3_600_000, 3_600_010, 3_600_005)).toEqual([true, 0]);
    expect(clock.push(1_000, 3_601_000)).toEqual([true, 3_600_000]);
  });

  it("follows this machine's clock when that is known to have been set", () => {
    clock.roundTrip(0, 10, 1_005);
    clock.step(3_600_000);
    expect(clock.offset).toBe(1_000 - 3_600_000);
  });

  it("is measured again once this machine's was set, however long that takes", () => {
    clock.roundTrip(0, 10, 1_005);
    clock.step(300);
    expect(clock.roundTrip(1_000, 3_000, 3_100)).toEqual([true, 800]);
  });

  it("stays unknown while nothing is known of it", () => {
    clock.step(1_000);
    expect(clock.offset).toBeNaN();
  });
});
