import { expect, it } from "vitest";
import {
  formatAge,
  formatDuration,
  formatRest,
  formatWait,
} from "../../../client/devtools/format.js";

it("says of a wait that it goes on for at least a second, also at its end", () => {
  for (const ms of [-5, 0, 0.4, 1, 1000]) expect(formatWait(ms)).toBe("in 1 s");
  expect(formatRest(1001)).toBe("2 s");
  expect(formatRest(59_500)).toBe("1 min");
});

it("says of an age how long it is at least, also where a clock was put back", () => {
  for (const ms of [-5000, 0, 999]) expect(formatAge(ms)).toBe("less than 1 s ago");
  expect(formatAge(1999)).toBe("1 s ago");
  expect(formatAge(999, true)).toBe("some time ago");
  expect(formatAge(61_000, true)).toBe("at least 1 min 1 s ago");
});

it("has no duration of nothing", () => {
  expect(formatDuration(0)).toBe("less than 1 ms");
  expect(formatDuration(0.6)).toBe("1 ms");
});
