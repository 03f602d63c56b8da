/**
 * Deletes all rows of a key. The rows of limits that are named elsewhere, or in calls with a config,
 * are found by the names in the table.
 */
import { RateLimitInputError } from "../../../core/errors.js";
import { nextTick } from "../../timers/next-tick.js";
import { sideRowsOf } from "../../../core/rows/kinds.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { spanKey, SPANS } from "../../../core/rows/span.js";
import { USAGE } from "../../../core/rows/usage.js";
import { deletion } from "./reset.js";
import { type RateLimitStore, rowId, type RowId } from "../../store/store.js";
import type { Overriding } from "../limits/overrides/open-overrides.js";
import { unsupported } from "../types/unsupported.js";
import type { OpenUsage } from "../usage/open-usage.js";
import type { Context } from "../context/context.js";

/** Rows per round trip. Most keys have few; a limit has up to 1,000 shards. */
const PAGE = 100;

export interface ForgetContext {
  store: RateLimitStore;
  toStoredKey(key: string): string | undefined;
  context: Pick<Context, "apply" | "onChange" | "endLeases">;
  /** Bounds one round trip. */
  bound<TResult>(work: () => Promise<TResult>): Promise<TResult>;
  /** Absent without overrides. */
  overriding: Pick<Overriding, "forget"> | undefined;
  usage: Pick<OpenUsage, "forget">;
}

/** @returns how many rows were deleted. */
export async function forget(
  { store, toStoredKey, context, bound, overriding, usage }: ForgetContext,
  key: string,
): Promise<number> {
  const { apply, onChange, endLeases } = context;
  const storedKey = toStoredKey(key);
  if (storedKey === undefined) {
    throw new RateLimitInputError(
      "key",
      "forget() needs a key, got undefined; to fill the bucket that all callers share, use reset()",
    );
  }
  // First the usage in memory, or it would be written again.
  await usage.forget(storedKey);
  const { list } = store;
  const names = store.names?.()[Symbol.asyncIterator]();
  if (list === undefined || names === undefined) throw unsupported(store, "forget");

  /** A counter is deleted together with the row by which its span is found. */
  function together(row: RowId): readonly RowId[] {
    if (!row.name.startsWith(USAGE.prefix)) return [row];
    const start = Number(row.key.slice(row.key.lastIndexOf("|") + 1));
    const ofLimit = row.name.slice(USAGE.prefix.length);
    return [row, rowId(sideName(SPANS, ofLimit), spanKey(start, storedKey!), 0)];
  }

  /** Deletes the rows of one name. */
  async function forgetName(name: string): Promise<number> {
    let deleted = 0;
    // The ids of calls with `once` are in rows whose keys begin with the key of the bucket. Other rows
    // may stand between them: "Ann|1" between "ann|1" and "ann|2", by the rules of a language.
    const prefix = sideRowsOf(name)?.keyStart?.(storedKey!);
    let after = prefix === undefined ? rowId(name, storedKey!, -1) : undefined;
    for (;;) {
      const page = await bound(() => list!.call(store, name, after, PAGE, prefix));
      const own = page.filter(({ key: of }) =>
        prefix === undefined ? of === storedKey : of.startsWith(prefix),
      );
      own.forEach(endLeases);
      const deleting = own.length === 0 ? [] : apply(own.map((row) => deletion(together(row))));
      const found = await Promise.resolve(deleting).finally(() => own.forEach(endLeases));
      deleted += found.filter(Boolean).length;
      // The rows of one key follow each other, so a row of another key ends them.
      if ((prefix === undefined ? own : page).length < PAGE) return deleted;
      after = page.at(-1)!;
    }
  }

  let deleted = (await overriding?.forget(storedKey)) ?? 0;
  for (;;) {
    const step = await bound(() => names.next());
    if (step.done === true) return deleted;
    const ofName = await forgetName(step.value);
    if (ofName > 0) onChange(step.value, key);
    deleted += ofName;
    // A synchronous driver lets no other work of this process run.
    await nextTick();
  }
}
