import { expect, it } from "vitest";
import { createRaces } from "../../server/store/races.js";

const lost = new Set(["hot"]);
const none: ReadonlySet<string> = new Set();

it("tries again at once, then lets a row rest for longer and longer, up to a bound", () => {
  const races = createRaces(false, () => 1);
  const pauses = Array.from({ length: 8 }, () => {
    const { resting, pause } = races.note(["hot", "calm"], lost);
    return resting.has("hot") ? pause : "at once";
  });
  expect(pauses).toEqual(["at once", "at once", 2, 4, 8, 8, 8, 8]);
  expect(races.mustLock("hot")).toBe(false);
});

it("locks a row where that can be done, rather than let it rest again and again", () => {
  const races = createRaces(true, () => 1);
  const seen = Array.from({ length: 5 }, () => {
    const { resting } = races.note(["hot"], lost);
    return [resting.size, races.mustLock("hot")];
  });
  expect(seen).toEqual([
    [0, false],
    [0, false],
    [1, false],
    [0, true],
    [0, true],
  ]);
});

it("forgets what was lost when a race is won, or when nobody tries any more", () => {
  for (const end of ["won", "forgotten"]) {
    const races = createRaces(true, () => 1);
    for (let race = 0; race < 4; race++) races.note(["hot"], lost);
    expect(races.isContested("hot")).toBe(true);
    if (end === "won") races.note(["hot"], none);
    else races.forget("hot");
    expect([races.isContested("hot"), races.mustLock("hot")]).toEqual([false, false]);
  }
});

it("keeps each row's own count, and lets those rest that have lost too often", () => {
  const races = createRaces(false, () => 1);
  for (let race = 0; race < 3; race++) races.note(["hot"], lost);
  const { resting, pause } = races.note(["hot", "new"], new Set(["hot", "new"]));
  expect([...resting]).toEqual(["hot"]);
  expect(pause).toBe(4);
});
