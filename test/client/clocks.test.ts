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
    roundTrip(sentAt: number, receivedAt: number, serverNow: number) {
      now = receivedAt;
      return clock.roundTrip(receivedAt - sentAt, serverNow);
    },
    push(receivedAt: number, serverNow: number) {
      now = receivedAt;
      return clock.push(serverNow);
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
    expect(clock.roundTrip(1_000, 1_100, 5_050)).toBe(true);
    expect(clock.offset).toBe(4_000);
  });

  it("handles a server that is behind this machine", () => {
    clock.roundTrip(10_000, 10_200, 4_100);
    expect(clock.offset).toBe(-6_000);
  });

  it("rounds down, so that the server is asked late rather than early", () => {
    clock.roundTrip(0, 101, 1_000);
    expect(clock.offset).toBe(949);
    clock = startClock();
    clock.roundTrip(1_000, 1_101, 0);
    expect(clock.offset).toBe(-1_051);
  });

  it("counts when it is shorter than the best so far, and not when it is longer", () => {
    clock.roundTrip(0, 400, 1_250);
    expect(clock.offset).toBe(1_050);
    expect(clock.roundTrip(500, 510, 1_505)).toBe(true);
    expect(clock.offset).toBe(1_000);
    expect(clock.roundTrip(600, 900, 1_780)).toBe(false);
    expect(clock.offset).toBe(1_000);
  });

  it("reports no change when it confirms what is known", () => {
    clock.roundTrip(0, 10, 1_005);
    expect(clock.roundTrip(100, 108, 1_104)).toBe(false);
    expect(clock.offset).toBe(1_000);
  });

  it("replaces what only pushes have reported, however long it took", () => {
    clock.push(0, 900);
    expect(clock.roundTrip(100, 2_100, 2_100)).toBe(true);
    expect(clock.offset).toBe(1_000);
  });
});

describe("a push", () => {
  it("is a first guess", () => {
    expect(clock.push(1_000, 5_000)).toBe(true);
    expect(clock.offset).toBe(4_000);
  });

  it("only raises", () => {
    clock.push(1_000, 5_000);
    expect(clock.push(2_000, 5_500)).toBe(false);
    expect(clock.offset).toBe(4_000);
    expect(clock.push(3_000, 7_001)).toBe(true);
    expect(clock.offset).toBe(4_001);
  });

  it("does not lower what a round trip has measured", () => {
    clock.roundTrip(0, 20, 1_010);
    expect(clock.push(100, 600)).toBe(false);
    expect(clock.offset).toBe(1_000);
  });

  it("raises what a round trip has measured only by more than its uncertainty", () => {
    clock.roundTrip(0, 20, 1_010);
    expect(clock.push(100, 100 + 1_000 + 11)).toBe(false);
    expect(clock.push(100, 100 + 1_000 + 12)).toBe(true);
    expect(clock.offset).toBe(1_012);
  });
});

describe("a clock that was set", () => {
  it("shows in two round trips that cannot both be right, even if the second is longer", () => {
    clock.roundTrip(0, 10, 1_005);
    expect(clock.roundTrip(1_000, 1_200, 3_602_100)).toBe(true);
    expect(clock.offset).toBe(3_601_000);
    expect(clock.roundTrip(2_000, 2_400, 3_200)).toBe(true);
    expect(clock.offset).toBe(1_000);
  });

  it("is not seen in round trips that overlap", () => {
    clock.roundTrip(0, 10, 1_005);
    // 5 ms and 100 ms of uncertainty, and 1 ms for the rounding.
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 + 106)).toBe(false);
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 - 106)).toBe(false);
    expect(clock.roundTrip(1_000, 1_200, 1_100 + 1_000 + 107)).toBe(true);
    expect(clock.offset).toBe(1_107);
  });

  it("shows in a push once this machine's clock is turned back", () => {
    clock.roundTrip(3_600_000, 3_600_010, 3_600_005);
    expect(clock.offset).toBe(0);
    expect(clock.push(1_000, 3_601_000)).toBe(true);
    expect(clock.offset).toBe(3_600_000);
  });

  it("follows this machine's clock when that is known to have been set", () => {
    clock.roundTrip(0, 10, 1_005);
    clock.step(3_600_000);
    expect(clock.offset).toBe(1_000 - 3_600_000);
  });

  it("is measured again once this machine's was set, however long that takes", () => {
    clock.roundTrip(0, 10, 1_005);
    clock.step(300);
    expect(clock.roundTrip(1_000, 3_000, 3_100)).toBe(true);
    expect(clock.offset).toBe(800);
  });

  it("stays unknown while nothing is known of it", () => {
    clock.step(1_000);
    expect(clock.offset).toBeNaN();
  });
});
