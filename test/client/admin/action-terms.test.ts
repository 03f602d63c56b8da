/** The choices before an action, in the time of the reader. */
import { afterEach, expect, it, vi } from "vitest";
import { tomorrow } from "../../../client/admin/action-terms.js";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

it("tomorrow is the next day, also where clocks go forward in between", () => {
  vi.stubEnv("TZ", "Europe/Berlin");
  vi.useFakeTimers({ toFake: ["Date"] });
  // Saturday, 23:30 in Berlin. Sunday has 23 hours.
  vi.setSystemTime(Date.UTC(2030, 2, 30, 22, 30));
  expect(new Date().getHours()).toBe(23);
  expect(tomorrow()).toBe("2030-03-31T09:00");
  vi.setSystemTime(Date.UTC(2030, 11, 31, 12));
  expect(tomorrow()).toBe("2031-01-01T09:00");
});
