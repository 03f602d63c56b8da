import { expect, it } from "vitest";
import { SpentRows } from "../../../../server/store/group-commit/spent-rows.js";

it("remembers until when a row has no tokens, and forgets a row that was written", () => {
  const spent = new SpentRows();
  spent.set("a", 5);
  spent.set("a", 7);
  expect(spent.get("a")).toBe(7);
  spent.delete("a");
  expect(spent.get("a")).toBeUndefined();
});

it("drops what was noted first when there are too many", () => {
  const spent = new SpentRows(2);
  for (const [id, until] of [
    ["a", 1],
    ["b", 2],
    ["a", 3],
    ["c", 4],
  ] as const) {
    spent.set(id, until);
  }
  expect([...spent]).toEqual([
    ["a", 3],
    ["c", 4],
  ]);
});
