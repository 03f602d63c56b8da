import { expect, it } from "vitest";
import { Timeline } from "../../../client/devtools/timeline.js";
import { createManualClock } from "../../../core/testing.js";

const granted = { kind: "granted", item: { name: "a" }, count: 1, path: "send", text: "" } as const;

it("counts what happens again, at the time of the last one", () => {
  const clock = createManualClock();
  const timeline = new Timeline(clock);
  timeline.add(granted);
  clock.advance(5);
  timeline.add(granted);
  expect(timeline.events).toMatchObject([{ ...granted, times: 2, at: clock() }]);
  for (const other of [
    { ...granted, kind: "denied" as const },
    { ...granted, count: 2 },
    { ...granted, path: "other" },
    { ...granted, text: "after 1 s" },
    { ...granted, item: { name: "a", key: "b" } },
  ]) {
    timeline.add(other);
    expect(timeline.events[0]).toMatchObject({ ...other, times: 1 });
  }
  expect(timeline.events).toHaveLength(6);
});

it("keeps the last three hundred, the latest first", () => {
  const timeline = new Timeline(createManualClock());
  for (let count = 1; count <= 400; count++) timeline.add({ ...granted, count });
  expect(timeline.events).toHaveLength(300);
  expect(timeline.events[0]!.count).toBe(400);
  timeline.clear();
  expect(timeline.events).toEqual([]);
});
