/** `limiter.overrides`: sets, reads and clears the rows of the table. */
import { MAX_RETRY_AFTER } from "../../../../core/config.js";
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { KeyOptions, PlanOptions } from "../../types/call.js";
import { namesOf, rejectUnknownOptions } from "../../types/known-options.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import type { OverrideRow, OverrideTable } from "../../../store/override-table.js";
import { type Call, expiredError } from "../../../store/store.js";
import type { KnownOverrides } from "./known-overrides.js";
import { type OverrideChange, setNow } from "./override-change.js";
import type { OverrideLimitOptions } from "./override-limit.js";
import { overridePages } from "./read-overrides.js";
import { overrideOf, ruleText, validateRule, validateUntil } from "./override-rule.js";
import type {
  OverrideKeyOptions,
  RateLimitOverride,
  RateLimitOverrides,
  SetOverrideOptions,
} from "../../types/override-types.js";

const KEY = namesOf<OverrideKeyOptions>({ key: true });
const SET = namesOf<SetOverrideOptions>({
  key: true,
  until: true,
  plan: true,
  config: true,
  times: true,
  unlimited: true,
  blocked: true,
});

/** The table, as the operations need it: by itself, or inside a transaction. */
export interface OverrideAccess {
  /** All rows, a page at a time. */
  pages(): AsyncIterable<readonly OverrideRow[]>;
  /** The row of a key, or of all keys, and others. */
  readOf(of: Pick<OverrideRow, "name" | "key">): Promise<OverrideRow[]>;
  /**
   * Resolves with whether the override is there now, or for an override that ends, whether it was there.
   */
  change(change: OverrideChange): Promise<boolean>;
}

export interface OverrideOperationsOptions extends Pick<
  OverrideLimitOptions,
  "configs" | "plans" | "clock"
> {
  /** Resolves a name and a key without overrides. Throws where the name or the key is not valid. */
  resolve(name: string, options: KeyOptions & PlanOptions, needsPlan?: boolean): ResolvedLimit;
}

export function createOverrideOperations(
  options: OverrideOperationsOptions,
  access: OverrideAccess,
): RateLimitOverrides {
  const { configs, plans, clock, resolve } = options;

  /** Throws for `{ key: undefined }`, which would be about all keys. */
  function plainOf(name: string, of: OverrideKeyOptions): ResolvedLimit {
    return resolve(name, "key" in of ? { key: of.key } : {}, false);
  }

  return {
    async set(names, of) {
      rejectUnknownOptions(of, SET, "overrides.set()");
      const rows = (typeof names === "string" ? [names] : names).map((name): OverrideRow => {
        const { key } = plainOf(name, of).rows[0];
        const now = clock();
        validateUntil(of.until, now);
        const rule = ruleText(validateRule(of, configs.get(name)!, name, plans));
        // A later instant would be written with an exponent, which not every store reads.
        const until = Math.min(of.until ?? MAX_RETRY_AFTER, MAX_RETRY_AFTER);
        return { name, key, rule, until, setAt: now };
      });
      for (const row of rows) await access.change({ id: row, row });
    },
    async get(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.get()");
      const { key } = plainOf(name, of).rows[0];
      const rows = await access.readOf({ name, key });
      return inForce(options, rows, name).find((override) => (override.key ?? "") === key);
    },
    async list(name) {
      if (name !== undefined) resolve(name, {}, false);
      const found: RateLimitOverride[] = [];
      for await (const page of access.pages()) found.push(...inForce(options, page, name));
      return found;
    },
    async clear(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.clear()");
      const { key } = plainOf(name, of).rows[0];
      return access.change({ id: { name, key }, row: undefined });
    },
  };
}

export interface OwnAccessOptions extends Pick<OverrideLimitOptions, "clock"> {
  table: OverrideTable;
  known: KnownOverrides;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  /** Tells the listeners of this process and the other processes. */
  published(): void;
}

/** The table by itself: each change is a statement of its own. */
export function ownAccess(options: OwnAccessOptions): OverrideAccess {
  const { table, bound } = options;
  return {
    pages: () => overridePages(options),
    readOf: ({ name, key }) => bound((call) => table.readOf?.(name, key, call) ?? table.read(call)),
    change: (override) => change(options, override),
  };
}

/**
 * This process obeys the change before its caller goes on. A write that fails may have taken effect, so
 * the table counts as changed then, too.
 */
async function change(options: OwnAccessOptions, override: OverrideChange): Promise<boolean> {
  const { table, known, bound, published, clock } = options;
  const { id, row } = override;
  let isThere = true;
  try {
    await bound(async (call) => {
      if (row === undefined) {
        isThere = await table.remove(id.name, id.key, call);
        return;
      }
      // From the answer of this read, this process learns the clock of the database.
      await (table.readOf?.(id.name, id.key, call) ?? table.read(call));
      if (call.expired) throw expiredError();
      await table.write(setNow(row, clock), call);
    });
  } catch (error) {
    known.changed();
    published();
    throw error;
  }
  known.wrote(override);
  published();
  return isThere;
}

function inForce(
  { configs, clock }: OverrideOperationsOptions,
  rows: readonly OverrideRow[],
  name: string | undefined,
): RateLimitOverride[] {
  const now = clock();
  return rows
    .filter((row) => (name === undefined ? configs.has(row.name) : row.name === name))
    .flatMap((row) => overrideOf(row) ?? [])
    .filter(({ until = Infinity }) => now < until);
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

/** In place of the operations, for a limiter without `overrides: true`. */
export function noOverrides(): RateLimitOverrides {
  const refuse = async (): Promise<never> => {
    const message =
      "this limiter has no overrides: give createRateLimiter the option overrides: true";
    throw new RateLimitConfigError("overrides", undefined, { message });
  };
  return { set: refuse, get: refuse, list: refuse, clear: refuse };
}
