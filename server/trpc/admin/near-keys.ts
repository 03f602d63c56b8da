/**
 * Keys with rows that are like a key without rows: what somebody has typed who sees `customer 1` and writes
 * `Customer 1 `, or only its beginning. Keys that are stored as hashes are like no other key.
 */
import { keysWith } from "../../limiter/list/keys-with.js";
import type { Operator } from "../../limiter/parts/operator.js";

/** The most keys that are proposed. */
const MOST = 8;
/** The most limits that are searched. */
const LIMITS = 32;

/**
 * @param names the limits that the caller may view.
 * @param text the key that has no rows, as it was typed.
 * @param mayView whether the caller may view the key under the limit.
 * @returns the keys that begin with the text, or with another spelling of it: without spaces around it, and
 * with small or capital letters. The shortest first.
 */
export async function nearKeys<TName extends string>(
  { store }: Pick<Operator, "store">,
  names: readonly TName[],
  text: string,
  mayView: (name: TName, key: string) => Promise<boolean>,
): Promise<string[]> {
  if (store.list === undefined) return [];
  const searches = names
    .slice(0, LIMITS)
    .flatMap((name) => spellings(text).map((begins) => ({ name, begins })));
  const found = searches.map(async ({ name, begins }) => {
    const keys = (await keysWith(store, name, begins, MOST)).filter((key) => key !== text);
    const views = await Promise.all(keys.map((key) => mayView(name, key)));
    return keys.filter((_, i) => views[i]);
  });
  const keys = new Set((await Promise.all(found)).flat());
  return [...keys].toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MOST);
}

function spellings(text: string): string[] {
  const trimmed = text.trim().replaceAll(/\s+/g, " ");
  const lower = trimmed.toLowerCase();
  const capital = lower.slice(0, 1).toUpperCase() + lower.slice(1);
  const all = new Set([trimmed, lower, capital, trimmed.toUpperCase()]);
  all.delete("");
  return [...all];
}
