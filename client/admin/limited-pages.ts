/**
 * The pages of a list that have been read so far. The pages on the screen are read again and again, and
 * all others stay as they were read. A key that becomes limited can push other keys to the next page. So
 * a page begins where the page before it ends now, and each reading puts the next page right.
 */
import { compareKeys } from "./compare-keys.js";
import type { AdminItem, AdminPage } from "./admin-types.js";

export interface LimitedPages {
  readonly pages: readonly AdminPage[];
  /** All keys, each of them once. */
  readonly items: readonly AdminItem[];
  /** The index of the page that each item is from. */
  readonly pageOf: readonly number[];
  /** Where the next page begins; `undefined` where there is none. */
  readonly next: string | undefined;
}

export const NO_PAGES: LimitedPages = { pages: [], items: [], pageOf: [], next: undefined };

/** Puts an answer in its place. @param index at most the number of pages. */
export function withPage(before: LimitedPages, index: number, page: AdminPage): LimitedPages {
  const kept = before.pages[index];
  // The answer is older than a change that the page shows already.
  if (kept && kept.now > page.now) return before;
  const rest = page.next === undefined ? [] : before.pages.slice(index + 1);
  return joined([...before.pages.slice(0, index), page, ...rest]);
}

/** Puts the answer of a change into its row. The row stays until the server says that it is gone. */
export function withItem(before: LimitedPages, item: AdminItem, now: number): LimitedPages {
  return joined(
    before.pages.map((page) =>
      page.items.some(({ key }) => key === item.key)
        ? { ...page, now, items: page.items.map((each) => (each.key === item.key ? item : each)) }
        : page,
    ),
  );
}

/** Where a page begins. */
export function startOf({ pages }: LimitedPages, index: number): string | undefined {
  return index === 0 ? undefined : pages[index - 1]?.next;
}

function joined(pages: readonly AdminPage[]): LimitedPages {
  const seen = new Set<string | undefined>();
  const items: AdminItem[] = [];
  const pageOf: number[] = [];
  for (const [index, page] of pages.entries()) {
    for (const item of page.items) {
      if (seen.has(item.key)) continue;
      seen.add(item.key);
      items.push(item);
      pageOf.push(index);
    }
  }
  const next = pages.at(-1)?.next;
  // Where the list is one page, it can stand in the order of people. Several pages follow the server's.
  if (pages.length === 1 && next === undefined) items.sort(inOrder);
  return { pages, items, pageOf, next };
}

/** Banned keys stand first, as the server lists them. */
function inOrder(a: AdminItem, b: AdminItem): number {
  const isOpen = ({ override }: AdminItem) => Number(override?.blocked !== true);
  return isOpen(a) - isOpen(b) || compareKeys(a.key, b.key);
}
