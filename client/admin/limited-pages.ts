/**
 * The pages of a list that have been read so far. What is on the screen is read again and again, and
 * everything else stays as it was read. A page begins where the one before it ends now, so pages heal
 * from the top as they are looked at: a key that has become limited pushes others to the next page.
 */
import type { AdminItem, AdminPage } from "./admin-types.js";

export interface LimitedPages {
  readonly pages: readonly AdminPage[];
  /** All keys, each of them once. */
  readonly items: readonly AdminItem[];
  /** Of which page each item is. */
  readonly pageOf: readonly number[];
  /** Where the next page begins; `undefined` where there is none. */
  readonly next: string | undefined;
}

export const NO_PAGES: LimitedPages = { pages: [], items: [], pageOf: [], next: undefined };

/** Puts an answer in its place. @param index at most the number of pages. */
export function withPage(before: LimitedPages, index: number, page: AdminPage): LimitedPages {
  const kept = before.pages[index];
  // An answer to a question from before a change.
  if (kept && kept.now > page.now) return before;
  const rest = page.next === undefined ? [] : before.pages.slice(index + 1);
  return joined([...before.pages.slice(0, index), page, ...rest]);
}

/** What a change has answered, in its row. The row stays until the server says that it is gone. */
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
  return { pages, items, pageOf, next: pages.at(-1)?.next };
}
