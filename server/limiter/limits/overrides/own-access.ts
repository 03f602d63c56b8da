/** The table of overrides by itself: each change is a statement of its own. */
import type { OverrideRow, OverrideTable } from "../../../store/override-table.js";
import { type Call, expiredError } from "../../../store/store.js";
import type { KnownOverrides } from "./known-overrides.js";
import { isChange } from "./override-row.js";
import { besideOf, earlierRow, type OverrideChange, setNow } from "./override-change.js";
import type { OverrideLimitOptions } from "./override-limit.js";
import type { OverrideAccess } from "./override-operations.js";
import { overridePages } from "./read-overrides.js";

export interface OwnAccessOptions extends Pick<OverrideLimitOptions, "clock"> {
  table: OverrideTable;
  known: KnownOverrides;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  /** Tells the listeners of this process and the other processes. */
  published(): void;
}

export function ownAccess(options: OwnAccessOptions): OverrideAccess {
  const { table, bound } = options;
  return {
    pages: () => overridePages(options),
    readOf: ({ names, key }) =>
      bound((call) => table.readOf?.(names, key, call) ?? table.read(call)),
    change: (override) => change(options, override),
  };
}

/**
 * This process obeys the change before its caller goes on. A write that fails may have taken effect, so
 * the table counts as changed then, too.
 */
async function change(options: OwnAccessOptions, override: OverrideChange): Promise<boolean> {
  const { table, known, bound, clock } = options;
  const { id, row } = override;
  const published = () => {
    // Who reads the log looks at the table each time, and no page has to ask again because of it.
    if (!isChange(id)) options.published();
  };
  let isThere = true;
  let earlier: OverrideRow | undefined;
  try {
    await bound(async (call) => {
      if (row === undefined) {
        isThere = await table.remove(id.name, id.key, call);
        return;
      }
      // From the answer of this read, this process learns the clock of the database.
      const { names, key } = besideOf(override);
      const others = await (table.readOf?.(names, key, call) ?? table.read(call));
      if (call.expired) throw expiredError();
      await table.write(setNow(row, clock, others, override.after), call);
      earlier = earlierRow(row, others);
      if (earlier !== undefined) await table.remove(earlier.name, earlier.key, call);
    });
  } catch (error) {
    known.changed();
    published();
    throw error;
  }
  known.wrote(override);
  if (earlier !== undefined) known.wrote({ id: earlier, row: undefined });
  published();
  return isThere;
}

/** Deletes the overrides of a stored key, of all limits. Resolves with the number of deleted overrides. */
export async function forgetOverrides(
  {
    table,
    known,
    bound,
    published,
  }: Pick<OwnAccessOptions, "table" | "known" | "bound" | "published">,
  storedKey: string,
): Promise<number> {
  const rows: OverrideRow[] = [];
  for await (const page of overridePages({ table, bound })) {
    rows.push(...page.filter(({ key }) => key === storedKey));
  }
  let removed = 0;
  try {
    for (const { name, key } of rows) {
      if (await bound((call) => table.remove(name, key, call))) removed++;
    }
  } finally {
    if (rows.length > 0) {
      known.changed();
      published();
    }
  }
  return removed;
}
