import { expect, it, vi } from "vitest";
import { createServerClock } from "../../client/server-clock.js";
import { createManualClock } from "../../core/testing.js";

function start() {
  const [wall, steady] = [createManualClock(10_000), createManualClock(0)];
  const onStep = vi.fn();
  const { look, roundTrip } = createServerClock(wall, steady, onStep);
  return {
    wall,
    onStep,
    look,
    /** The server, whose clock stands still at 50,000, answers at once. */
    answer() {
      roundTrip(0, 50_000);
    },
  };
}

it("corrects a step once, whatever little was corrected before it", () => {
  const { wall, onStep, look, answer } = start();
  answer();
  expect(look().offset).toBe(40_000);
  // Too little to be noticed, until the server is heard of.
  wall.advance(200);
  expect(look().offset).toBe(40_000);
  answer();
  expect(look().offset).toBe(39_800);
  wall.advance(200);
  look();
  expect(onStep).not.toHaveBeenCalled();
  wall.advance(100);
  expect(look().offset).toBe(39_500);
  expect(onStep).toHaveBeenCalledTimes(1);
  // And the other way round.
  answer();
  wall.advance(-300);
  expect(look().offset).toBe(39_800);
  expect(onStep).toHaveBeenCalledTimes(2);
});

it("counts what was too little to be noticed, while nobody has corrected it", () => {
  const { wall, onStep, look, answer } = start();
  answer();
  for (let step = 0; step < 3; step++) {
    wall.advance(100);
    look();
  }
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(look().offset).toBe(39_700);
});

it("tells of a step once, though nothing is known of the server", () => {
  const { wall, onStep, look } = start();
  wall.advance(1000);
  look();
  look();
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(look().offset).toBeNaN();
});

it("takes a trip that ended before it began for one that took no time", () => {
  const clock = createManualClock(10_000);
  const { look, roundTrip } = createServerClock(clock, clock, () => {});
  roundTrip(-2000, 50_000);
  expect(look().offset).toBe(40_000);
});

it("notices a step by a message, too, and corrects it once", () => {
  const wall = createManualClock(10_000_000);
  const onStep = vi.fn();
  const { look, roundTrip, push } = createServerClock(wall, createManualClock(0), onStep);
  roundTrip(0, 10_000_000);
  wall.advance(-3_600_000);
  push(10_000_000);
  expect(onStep).toHaveBeenCalledTimes(1);
  expect(look().offset).toBe(3_600_000);
});

it("takes the later of two samples that are as good", () => {
  const { look, roundTrip } = createServerClock(
    createManualClock(0),
    createManualClock(0),
    vi.fn(),
  );
  roundTrip(100, 1000);
  roundTrip(100, 1005);
  expect(look().offset).toBe(1055);
});
