import { expect, it, vi } from "vitest";
import { createServerClock } from "../../client/clocks.js";
import { createManualClock } from "../../core/testing.js";

function start() {
  const [wall, steady] = [createManualClock(10_000), createManualClock(0)];
  const onStep = vi.fn();
  const { read, roundTrip } = createServerClock(wall, steady, onStep);
  return {
    wall,
    onStep,
    read,
    /** The server, whose clock stands still at 50,000, answers at once. */
    answer() {
      roundTrip(0, 50_000);
    },
  };
}

it("corrects a step once, whatever smaller steps were corrected before it", () => {
  const { wall, onStep, read, answer } = start();
  answer();
  expect(read().offset).toBe(40_000);
  // Too little to be noticed before the server answers.
  wall.advance(200);
  expect(read().offset).toBe(40_000);
  answer();
  expect(read().offset).toBe(39_800);
  wall.advance(200);
  read();
  expect(onStep).not.toHaveBeenCalled();
  wall.advance(100);
  expect(read().offset).toBe(39_500);
  expect(onStep).toHaveBeenCalledTimes(1);
  // The other way round, too.
  answer();
  wall.advance(-300);
  expect(read().offset).toBe(39_800);
  expect(onStep).toHaveBeenCalledTimes(2);
});

it("adds up steps that are too small to be noticed alone", () => {
  const { wall, onStep, read, answer } = start();
  answer();
  for (let step = 0; step < 3; step++) {
    wall.advance(100);
    read();
  }
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(read().offset).toBe(39_700);
});

it("reports a step once, even if nothing is known of the server", () => {
  const { wall, onStep, read } = start();
  // The first read is what steps are counted from.
  wall.advance(1000);
  read();
  expect(onStep).not.toHaveBeenCalled();
  wall.advance(1000);
  read();
  read();
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(read().offset).toBeNaN();
});

it("treats a round trip with a negative duration as one of no time", () => {
  const clock = createManualClock(10_000);
  const { read, roundTrip } = createServerClock(clock, clock, () => {});
  roundTrip(-2000, 50_000);
  expect(read().offset).toBe(40_000);
});

it("notices a step by a message, too, and corrects it once", () => {
  const wall = createManualClock(10_000_000);
  const onStep = vi.fn();
  const { read, roundTrip, push } = createServerClock(wall, createManualClock(0), onStep);
  roundTrip(0, 10_000_000);
  wall.advance(-3_600_000);
  push(10_000_000);
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(read().offset).toBe(3_600_000);
});

it("takes the later of two samples that are as good", () => {
  const { read, roundTrip } = createServerClock(
    createManualClock(0),
    createManualClock(0),
    vi.fn(),
  );
  roundTrip(100, 1000);
  roundTrip(100, 1005);
  expect(read().offset).toBe(1055);
});
