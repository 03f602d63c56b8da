import { expect, it } from "vitest";
import {
  freeAt,
  handedValue,
  heldValue,
  inLine,
  isHolder,
  isMarked,
  marked,
  MAX_NONCE,
  MOST_SLOT_TTL,
  slotBucket,
} from "../../../core/rows/slot.js";
import { heldAt } from "../../../core/rows/reading.js";

const TS = 1e12;
const nonces = [1, 2, 12_345, MAX_NONCE];
const ttls = [1000, 1023, 1024, 29_999, 30_000, 511_999, 524_288, MOST_SLOT_TTL];

it("a row says its ttl, its holder, and whether callers wait, to the last bit", () => {
  for (const nonce of nonces) {
    for (const ttl of ttls) {
      const value = heldValue(nonce, ttl);
      const row = { used: value, ts: TS };
      expect(isMarked(row)).toBe(false);
      expect(freeAt(row, 7)).toBe(TS + ttl);
      const waiting = marked(row, 7, TS);
      expect(isMarked(waiting)).toBe(true);
      expect(waiting.used).toBe(inLine(value));
      expect(freeAt(waiting, 7)).toBe(TS + ttl);
      for (const each of [row, waiting]) {
        expect(isHolder(each, value, [TS])).toBe(true);
        expect(isHolder(each, heldValue(nonce + 1, ttl), [TS])).toBe(false);
        expect(isHolder(each, heldValue(nonce, ttl + 1), [TS])).toBe(false);
      }
    }
  }
});

it("a row that does not say its ttl has that of the reader", () => {
  for (const nonce of nonces) {
    const row = { used: handedValue(nonce), ts: TS };
    for (const each of [row, { used: row.used - 1024, ts: TS }]) {
      expect(freeAt(each, 5000)).toBe(TS + 5000);
      expect(isHolder(each, handedValue(nonce), [TS])).toBe(true);
    }
  }
});

it("a slot that is free in line is free for callers of every ttl", () => {
  const free = marked(null, 5000, TS);
  expect(isMarked(free)).toBe(true);
  expect(freeAt(free, MOST_SLOT_TTL)).toBe(-Infinity);
});

it("no ttl of a reader fills the bucket of a holder before its own ttl has ended", () => {
  for (const own of ttls) {
    for (const ttl of ttls) {
      const bucket = slotBucket({ kind: "concurrency", slots: 1, ttl });
      const row = { used: heldValue(1, own), ts: TS };
      expect(heldAt(row, bucket, TS + own - 1).value).toBeLessThan(0.999);
    }
  }
});
