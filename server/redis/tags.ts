/**
 * The places of rows. Each Redis key begins with a hash tag, and a cluster keeps keys of one tag in one
 * slot. There are few tags, spread evenly over all slots. The key of a limit determines the tag, so that
 * the rows of one user share a slot, and can be written together.
 */
import { hash } from "../../core/hash.js";
import { keySlot } from "./key-slot.js";
import { sideRowsOf } from "../../core/rows/kinds.js";
import { bucketKeyOf } from "../../core/rows/marker.js";
import { rowKey, type RowId } from "../store/store.js";

const SLOTS = 16_384;
/** The number of texts that are tried as tags. With 256 tags, there are 16 texts for each tag. */
const CANDIDATES = 4096;

export interface Tags {
  readonly count: number;
  /** The place of the row's tag, from 0. */
  placeOf(row: Pick<RowId, "name" | "key">): number;
  /** The Redis key that holds the row. */
  keyOf(row: RowId): string;
  /**
   * A Redis key in the slot of a tag that no row has. A NUL follows its tag: the name of a row is never
   * empty, so no row has a NUL there.
   */
  ownKey(place: number, name: string): string;
  /** The row that a Redis key holds; `undefined` if the key holds no row. */
  rowOf(key: string): RowId | undefined;
}

/** @param prefix without braces, because the first braces in a key must enclose its tag. */
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
      // A row that was written with another number of tags is never read: treat it as if it did not
      // exist.
      return starts[placeOf(row)] === key.slice(0, end + 1) ? row : undefined;
    },
  };
}

/**
 * The key that determines the tag. A side row is in the slot of its bucket, because one decision writes
 * both. A side row with a key of its own, such as a marker of `once`, has the key of the bucket inside
 * its key.
 */
function tagKeyOf({ name, key }: Pick<RowId, "name" | "key">): string {
  const kind = sideRowsOf(name);
  if (kind?.bucketKeyOf !== undefined) return kind.bucketKeyOf(key);
  return kind?.keyStart === undefined ? key : bucketKeyOf(key);
}

/** The tags: texts with slots that are as near as possible to the middle of equal parts of all slots. */
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
