/** The keys of a limit that begin with a text, for somebody who looks a key up. */
import { LAST_SHARD, rowId, type RateLimitStore } from "../../store/store.js";

/** Rows that are read at a time. The shards of a key follow each other. */
const ROWS = 20;

/** The first `most` stored keys of a limit that begin with a text and have rows. */
export async function keysWith(
  store: Pick<RateLimitStore, "list">,
  name: string,
  begins: string,
  most: number,
): Promise<string[]> {
  const keys: string[] = [];
  // One key after the other, so that a key with many shards does not hide others.
  for (let after = rowId(name, begins, -1); keys.length < most;) {
    const page = await store.list!(name, after, ROWS, begins);
    const own = page.filter(({ key }) => key.startsWith(begins));
    for (const { key } of own) if (key !== keys.at(-1)) keys.push(key);
    if (own.length < page.length || page.length < ROWS) break;
    after = rowId(name, keys.at(-1)!, LAST_SHARD);
  }
  return keys;
}
