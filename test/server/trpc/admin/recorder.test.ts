/** A process's memory for operators is bounded, and exact about the newest events. */
import { describe, expect, it } from "vitest";
import type { DecisionEvent } from "../../../../server/index.js";
import {
  DecisionRecorder,
  KEPT_DENIALS,
  KEPT_MINUTES,
} from "../../../../server/trpc/admin/recorder.js";
import { MINUTE } from "../../../../core/durations.js";

function start(names = ["login", "send"]) {
  const time = { now: 0 };
  const recorder = new DecisionRecorder(names, () => time.now);
  const tell = (event: Partial<DecisionEvent>) =>
    recorder.record({
      action: "limit",
      name: "login",
      key: "ada",
      count: 1,
      result: { ok: true, value: 0, ts: time.now },
      ...event,
    });
  const deny = (name: string, key: string) =>
    tell({ name, key, result: { ok: false, retryAfter: 5, value: 0 } });
  return { time, recorder, tell, deny };
}

describe("the denials of a process", () => {
  it("are the newest first, also those of one ms, of one limit or of all", () => {
    const { time, recorder, deny } = start();
    deny("login", "a");
    deny("send", "b");
    time.now = 1;
    deny("login", "c");
    const keysOf = (names: string[], count: number) =>
      recorder.denials(names, count).items.map(({ key }) => key);
    expect(keysOf(["login", "send"], 10)).toEqual(["c", "b", "a"]);
    expect(keysOf(["login", "send"], 2)).toEqual(["c", "b"]);
    expect(keysOf(["login"], 10)).toEqual(["c", "a"]);
    expect(keysOf(["other"], 10)).toEqual([]);
  });

  it("do not grow in a flood of a million denials, of which the newest are there exactly", () => {
    const { time, recorder, deny } = start();
    deny("send", "before the flood");
    const flood = 1_000_000;
    for (let i = 0; i < flood; i++) {
      time.now = i;
      deny("login", `attacker ${i}`);
    }
    const { since, items } = recorder.denials(["login"], flood);
    expect(items.map(({ key, at }) => [key, at])).toEqual(
      Array.from({ length: KEPT_DENIALS }, (_, i) => [`attacker ${flood - 1 - i}`, flood - 1 - i]),
    );
    expect(since).toBe(flood - KEPT_DENIALS);
    // A flood of one limit hides no denial of another one.
    expect(recorder.denials(["send"], 10)).toMatchObject({
      since: 0,
      items: [{ key: "before the flood" }],
    });
  });

  it("keep nothing of names that are none of the limits, however many there are", () => {
    const { recorder, deny } = start([]);
    for (let i = 0; i < 1000; i++) deny(`made up ${i}`, "a");
    const names = Array.from({ length: 1000 }, (_, i) => `made up ${i}`);
    expect(recorder.denials(names, 10).items).toEqual([]);
  });
});

describe("the minutes of a process", () => {
  it("count calls and tokens, and neither questions nor what operators do", () => {
    const { recorder, tell, deny } = start();
    tell({ count: 3 });
    deny("login", "a");
    tell({ action: "charge", count: 10 });
    for (const action of ["check", "credit", "ban", "exempt", "raise", "clear", "reset"] as const) {
      tell({ action });
      tell({ action, result: { ok: false, retryAfter: 1, value: 0 } });
    }
    expect(recorder.minute("login", 0)).toEqual({ granted: 1, denied: 1, taken: 13, givenBack: 0 });
    expect(recorder.denials(["login"], 10).items).toHaveLength(1);
  });

  it("are those of a day at most, and say from when on they are complete", () => {
    const { time, recorder, tell } = start();
    const minutes = KEPT_MINUTES * 3;
    for (let i = 0; i < minutes; i++) {
      time.now = i * MINUTE + 7;
      tell({});
    }
    const first = minutes - KEPT_MINUTES;
    expect(recorder.minutesSince).toBe(first * MINUTE);
    expect(recorder.minute("login", first * MINUTE)).toMatchObject({ granted: 1 });
    expect(recorder.minute("login", (first - 1) * MINUTE)).toBeUndefined();
  });

  it("are complete from the start of the process on, while that is young", () => {
    const { time, recorder } = start();
    time.now = 5 * MINUTE;
    expect(recorder.minutesSince).toBe(0);
  });

  it("keep a clock that steps back from dropping the newest", () => {
    const { time, recorder, tell } = start();
    for (let i = 0; i < KEPT_MINUTES; i++) {
      time.now = i * MINUTE;
      tell({});
    }
    time.now = 10 * MINUTE;
    tell({});
    expect(recorder.minute("login", 10 * MINUTE)).toMatchObject({ granted: 2 });
    time.now = KEPT_MINUTES * MINUTE;
    tell({});
    expect(recorder.minute("login", 0)).toBeUndefined();
    expect(recorder.minute("login", MINUTE)).toMatchObject({ granted: 1 });
  });
});
