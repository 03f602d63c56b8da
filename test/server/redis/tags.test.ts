import { describe, expect, it } from "vitest";
import { keySlot } from "../../../server/redis/key-slot.js";
import { createTags } from "../../../server/redis/tags.js";
import { SIDE_ROWS } from "../../../core/rows/kinds.js";
import { spanKey } from "../../../core/rows/span.js";
import { markerKey } from "../../../core/rows/marker.js";
import { rowId } from "../../../server/store/store.js";

const rowOf = (name: string, key: string, shard = 0) => rowId(name, key, shard);

describe("the tags of keys in Redis", () => {
  it.each([1, 2, 12, 100, 256])("are %d, one in each equal part of the slots", (count) => {
    const tags = createTags("p:", count);
    const slots = Array.from({ length: count }, (_, place) => keySlot(tags.ownKey(place, "")));
    const parts = slots.map((slot) => Math.floor((slot * count) / 16_384));
    expect(parts).toEqual(Array.from({ length: count }, (_, place) => place));
  });

  it("spread twelve tags evenly over three, four and six masters", () => {
    const tags = createTags("p:", 12);
    const slots = Array.from({ length: 12 }, (_, place) => keySlot(tags.ownKey(place, "")));
    for (const masters of [3, 4, 6]) {
      const counts = Array.from({ length: masters }, () => 0);
      for (const slot of slots) counts[Math.floor((slot * masters) / 16_384)]!++;
      expect(counts).toEqual(counts.map(() => 12 / masters));
    }
  });

  it("put all limits and shards of a key into one slot, and keys into different ones", () => {
    const tags = createTags("p:", 12);
    const slotOf = (name: string, key: string, shard = 0) =>
      keySlot(tags.keyOf(rowOf(name, key, shard)));
    for (const key of ["", "user 1", "{other}", "}{", "é"]) {
      const slots = [slotOf("a", key), slotOf("b", key), slotOf("{b}", key), slotOf("a", key, 7)];
      expect(new Set(slots).size).toBe(1);
    }
    // Where the markers of its ids are, too, because one decision writes them, and all other rows.
    for (const key of ["", "user 1", "a|b", "a\\", "a\\|b", "|"]) {
      for (const { prefix, keyStart, bucketKeyOf } of SIDE_ROWS) {
        const ofKey = keyStart === undefined ? key : markerKey(key, "id|1");
        const own = bucketKeyOf === undefined ? ofKey : spanKey(1.9e12, key);
        expect(slotOf(`${prefix}a`, own)).toBe(slotOf("a", key));
      }
    }
    const all = Array.from({ length: 200 }, (_, i) => slotOf("a", `user ${i}`));
    expect(new Set(all).size).toBe(12);
  });

  it("find the row of a key again, and none in keys of others", () => {
    const tags = createTags("p:", 12);
    for (const [name, key, shard] of [
      ["a", "", 0],
      ["{a}", "}", 999],
      ["日本", "a{b}c", 3],
    ] as const) {
      expect(tags.rowOf(tags.keyOf(rowOf(name, key, shard)))).toEqual({ name, key, shard });
    }
    const row = tags.keyOf(rowOf("a", "b"));
    const others = [tags.ownKey(3, "mark"), "p:other", `${row}x`, `${row}\0more`];
    expect(others.map(tags.rowOf)).toEqual(others.map(() => undefined));
    // Under another number of tags.
    const moved = Array.from({ length: 20 }, (_, i) => tags.keyOf(rowOf("a", `user ${i}`)));
    const found = moved.map(createTags("p:", 11).rowOf);
    expect(found).toContain(undefined);
  });
});
