/**
 * Names and keys as MySQL keeps them apart. Its binary collation compares bytes, but as if the
 * shorter string went on with spaces; so a string that ends in a space, or in the mark that is put
 * behind those, gets a mark behind it.
 */
import type { RowId } from "../store.js";

/** Unit separator: no space, and in nobody's keys. */
const MARK = "\u001F";

export function storedText(text: string): string {
  return text.endsWith(" ") || text.endsWith(MARK) ? text + MARK : text;
}

export function rowsFrom(found: readonly Record<string, unknown>[]): RowId[] {
  return found.map(({ name, key, shard }) => ({
    name: shownText(name as string),
    key: shownText(key as string),
    shard: Number(shard),
  }));
}

function shownText(stored: string): string {
  return stored.endsWith(MARK) ? stored.slice(0, -MARK.length) : stored;
}
