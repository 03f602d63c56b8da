import { expect, it } from "vitest";
import { keySlot } from "../../../server/redis/key-slot.js";

it.each([
  // The check value of CRC-16/XMODEM is 0x31c3.
  ["123456789", 0x31c3],
  ["foo", 12_182],
  ["{foo}bar", 12_182],
  ["a{foo}{bar}", 12_182],
  ["foo{}", 5542],
  ["foo{{bar}}zap", 4015],
  ["", 0],
])("finds the slot of %s", (key, slot) => {
  expect(keySlot(key)).toBe(slot);
});
