/** Prunes a store without a `prune` of its own: lists pages of rows, and decides about each row. */
import { isFullRow } from "./is-full-row.js";
import type { Decision, PruneTerms, RateLimitStore, RowId } from "./store.js";

/** Rows per page. */
const PAGE = 500;

type ListingStore = Pick<RateLimitStore, "apply"> & Required<Pick<RateLimitStore, "list">>;

/** @returns the number of rows deleted by each page. */
export async function* pruneByList(
  store: ListingStore,
  { configs, before }: PruneTerms,
): AsyncGenerator<number, void, undefined> {
  for (const [name, all] of configs) {
    const dropWhenFull = (row: RowId): Decision<boolean> => ({
      rows: [row],
      decide([state]) {
        const isFull = state && isFullRow(row, state, all, before);
        return isFull ? { result: true, writes: [null] } : { result: false };
      },
    });
    let page: RowId[] = [];
    do {
      page = await store.list(name, page.at(-1), PAGE);
      const dropped = await store.apply(page.map(dropWhenFull));
      yield dropped.filter(Boolean).length;
    } while (page.length === PAGE);
  }
}
