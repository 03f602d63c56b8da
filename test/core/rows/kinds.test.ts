import { expect, it } from "vitest";
import { isFullAt } from "../../../core/rows/reading.js";
import { SIDE_ROWS, sideRowsOf } from "../../../core/rows/kinds.js";
import { markerOf } from "../../../core/rows/marker.js";
import { fullAfter, RESERVED_PREFIX, sideName } from "../../../core/rows/side-rows.js";

it("the rows beside a limit have names by which their kind is known", () => {
  for (const kind of SIDE_ROWS) {
    expect(kind.prefix.startsWith(RESERVED_PREFIX)).toBe(true);
    expect(sideRowsOf(sideName(kind, "limit"))).toBe(kind);
  }
  expect(sideRowsOf("limit")).toBe(undefined);
});

it("rows that are full after a time are not full before, whatever they hold", () => {
  for (const used of [0, 1, -1, 1e12, -1e12, 2 ** 53, 1e300, -1e300]) {
    const config = { kind: "token bucket", rate: 1, period: 1, capacity: 1.5e308 } as const;
    const row = markerOf({ used, ts: 1e12 }, config, 1e12);
    expect(isFullAt(row, fullAfter(1000), 1e12 + 999)).toBe(false);
    expect(isFullAt(row, fullAfter(1000), 1e12 + (used < 0 ? 2000 : 1000))).toBe(true);
  }
});
