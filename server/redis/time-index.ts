/**
 * Finds holds in the order in which they lapse, and warnings in the order in which they are to be told.
 * Redis has no order of its keys. Each of these rows therefore stands in two sorted sets in the slot of its
 * bucket: one set for its bucket, and one set for all buckets of the limit that share the tag. The script
 * that writes the row writes both sets.
 */
import { HOLDS } from "../../core/rows/hold.js";
import { WARNINGS } from "../../core/rows/warning.js";
import { bucketKeyOf, markerKey } from "../../core/rows/marker.js";
import { byTime, earliestByList, readRows } from "../store/earliest-by-list.js";
import type { FoundRow, RateLimitStore, RowId } from "../store/store.js";
import type { RedisPort } from "./redis-port.js";
import type { Tags } from "./tags.js";

/** Takes a row that does not exist out of its indexes. */
const DROP = `if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('ZREM', KEYS[2], KEYS[1])
  redis.call('ZREM', KEYS[3], KEYS[1])
end
return 'OK'`;

const isIndexed = (name: string): boolean =>
  name.startsWith(HOLDS.prefix) || name.startsWith(WARNINGS.prefix);

/** The sorted sets in which a row stands; `undefined` for rows that stand in no set. */
export function indexesOf(
  tags: Tags,
  row: Pick<RowId, "name" | "key">,
): [string, string] | undefined {
  if (!isIndexed(row.name)) return undefined;
  const place = tags.placeOf(row);
  return [ofBucket(tags, place, row.name, bucketKeyOf(row.key)), ofName(tags, place, row.name)];
}

const ofName = (tags: Tags, place: number, name: string): string =>
  tags.ownKey(place, `lapses\0${name}`);

const ofBucket = (tags: Tags, place: number, name: string, bucket: string): string =>
  tags.ownKey(place, `lapses\0${name}\0${bucket}`);

/** `RateLimitStore.earliest`, by the sorted sets. Rows without sets are found by a walk over all keys. */
export function createRedisEarliest(
  port: RedisPort,
  tags: Tags,
  apply: RateLimitStore["apply"],
  list: NonNullable<RateLimitStore["list"]>,
): NonNullable<RateLimitStore["earliest"]> {
  /** The first rows of a set, with the instants by which the set sorts them. */
  async function first(index: string, count: number): Promise<Indexed[]> {
    const command = ["ZRANGE", index, "0", String(count - 1), "WITHSCORES"];
    // Some clients answer with pairs.
    const words = ((await port.send(command, index)) as unknown[]).flat();
    const found: Indexed[] = [];
    for (let i = 0; i + 1 < words.length; i += 2) {
      const row = tags.rowOf(String(words[i]));
      if (row !== undefined) found.push({ row, ts: Number(words[i + 1]) });
    }
    return found;
  }

  async function read(rows: readonly RowId[]): Promise<FoundRow[]> {
    const found = await readRows(apply, rows);
    if (found.length === rows.length) return found;
    // A row that was deleted, but not by the store, is still in its sets.
    const known = new Set(found.map(({ row }) => row));
    for (const row of rows) {
      if (known.has(row)) continue;
      const keys = [tags.keyOf(row), ...indexesOf(tags, row)!];
      await port.send(["EVAL", DROP, "3", ...keys], keys[0]);
    }
    return found;
  }

  return async (name, prefix, count) => {
    const bucket = bucketKeyOf(prefix);
    if (!isIndexed(name) || (prefix !== "" && markerKey(bucket) !== prefix)) {
      return earliestByList(apply, list, name, prefix, count);
    }
    const places =
      prefix === "" ? [...Array(tags.count).keys()] : [tags.placeOf({ name, key: prefix })];
    const indexes = places.map((place) =>
      prefix === "" ? ofName(tags, place, name) : ofBucket(tags, place, name, bucket),
    );
    const indexed = (await Promise.all(indexes.map((index) => first(index, count)))).flat();
    const rows = indexed.sort((a, b) => a.ts - b.ts).slice(0, count);
    // Rows of one tag are read together.
    const ofPlace = places.map((place) => {
      return rows.flatMap(({ row }) => (tags.placeOf(row) === place ? row : []));
    });
    return byTime((await Promise.all(ofPlace.map(read))).flat(), count);
  };
}

interface Indexed {
  readonly row: RowId;
  readonly ts: number;
}
