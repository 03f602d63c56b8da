import { expect, it } from "vitest";
import { blockSize } from "../../../server/leases/block-size.js";

it.each([
  ["what the process needs", { demand: 30, gain: 1, refill: 100 }, 1000, 30],
  ["more where blocks are used up early", { demand: 30, gain: 2, refill: 100 }, 1000, 60],
  ["half of the level", { demand: 500, gain: 1, refill: 600 }, 100, 50],
  ["what refills in its life", { demand: 500, gain: 1, refill: 100 }, 1000, 100],
  ["a part of a high level where little refills", { demand: 500, gain: 1, refill: 1 }, 6400, 100],
  ["whole tokens", { demand: 9.9, gain: 1, refill: 100 }, 1000, 9],
  ["nothing for few calls", { demand: 3.9, gain: 1, refill: 100 }, 1000, 0],
  ["nothing of a slow limit", { demand: 500, gain: 1, refill: 3 }, 200, 0],
  ["nothing of the last tokens", { demand: 500, gain: 1, refill: 100 }, 7, 0],
  ["nothing of a debt", { demand: 500, gain: 1, refill: 100 }, -50, 0],
])("a block has %s", (_, needs, level, size) => {
  expect(blockSize(needs, level)).toBe(size);
});
