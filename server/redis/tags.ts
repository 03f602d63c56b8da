/**
 * Where the rows are: each key of Redis begins with a hash tag, and a cluster keeps keys of one tag
 * in one slot. There are few tags, evenly over all slots. The tag follows from the key of a limit, so
 * that the rows of one user share a slot, and can be written together.
 */
import { hash } from "../../core/hash.js";
import { keySlot } from "./key-slot.js";
import { sideRowsOf } from "../../core/rows/kinds.js";
import { bucketKeyOf } from "../../core/rows/marker.js";
import { rowKey, type RowId } from "../store/store.js";

const SLOTS = 16_384;
/** How many texts are tried as tags. With 256 tags, there are 16 for each. */
const CANDIDATES = 4096;

export interface Tags {
  readonly count: number;
  /** The place of the row's tag, from 0. */
  placeOf(row: Pick<RowId, "name" | "key">): number;
  /** The key of Redis that holds the row. */
  keyOf(row: RowId): string;
  /**
   * A key in the slot of a tag, which is no row's: a name is never empty, so no row has a NUL right
   * after its tag.
   */
  ownKey(place: number, name: string): string;
  /** The row that a key of Redis holds, or `undefined` if it is none. */
  rowOf(key: string): RowId | undefined;
}

/** @param prefix without braces: the first ones in a key are those of its tag. */
export function createTags(prefix: string, count: number): Tags {
  const starts = tagTexts(count).map((tag) => `${prefix}{${tag}}`);
  const placeOf = (row: Pick<RowId, "name" | "key">) =>
    count === 1 ? 0 : hash(tagKeyOf(row)) % count;
  return {
    count,
    placeOf,
    keyOf: (row) => starts[placeOf(row)]! + rowKey(row),
    ownKey: (place, name) => `${starts[place]!}\0${name}`,
    rowOf(key) {
      const end = key.indexOf("}", prefix.length);
      const parts = key.slice(end + 1).split("\0");
      const [name = "", own = "", shard = ""] = parts;
      if (end < 0 || parts.length !== 3 || name === "" || !/^\d+$/.test(shard)) return undefined;
      const row = { name, key: own, shard: Number(shard) };
      // Rows of another number of tags are not read, so they do not exist.
      return starts[placeOf(row)] === key.slice(0, end + 1) ? row : undefined;
    },
  };
}

/**
 * The rows beside those of a limit are in the slot of their bucket, because one decision writes both:
 * those with a key of their own, such as a marker of `once`, by the key of the bucket in it.
 */
function tagKeyOf({ name, key }: Pick<RowId, "name" | "key">): string {
  return sideRowsOf(name)?.keyStart === undefined ? key : bucketKeyOf(key);
}

/** The tags: texts whose slots are as near as possible to the middle of equal parts of all slots. */
function tagTexts(count: number): string[] {
  const texts: string[] = [];
  const distances: number[] = [];
  for (let i = 0; i < CANDIDATES; i++) {
    const text = i.toString(36);
    const slot = keySlot(text);
    const place = Math.floor((slot * count) / SLOTS);
    const distance = Math.abs(slot - ((place + 0.5) * SLOTS) / count);
    if (distance >= (distances[place] ?? Infinity)) continue;
    texts[place] = text;
    distances[place] = distance;
  }
  return texts;
}
