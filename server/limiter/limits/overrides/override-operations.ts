/** `limiter.overrides`: sets, reads and clears the rows of the table. */
import { MAX_RETRY_AFTER } from "../../../../core/config.js";
import { kindOf, OVERRIDE_KINDS } from "../../../../core/override-kinds.js";
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { KeyOptions, PlanOptions } from "../../types/call.js";
import { namesOf, rejectUnknownOptions } from "../../types/known-options.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import type { OverrideRow, OverrideRowIds } from "../../../store/override-table.js";
import type { OverrideChange } from "./override-change.js";
import type { OverrideLimitOptions } from "./override-limit.js";
import { kindOfRow, overrideOf, ruleText, validateRule, validateUntil } from "./override-rule.js";
import { limitNameOf, rowNameOf, rowNamesOf } from "./override-row.js";
import { layersIn } from "./overrides-by-name.js";
import type {
  ClearOverrideOptions,
  OverrideKeyOptions,
  RateLimitOverride,
  RateLimitOverrides,
  SetOverrideOptions,
} from "../../types/override-types.js";

const KEY = namesOf<OverrideKeyOptions>({ key: true });
const CLEAR = namesOf<ClearOverrideOptions>({ key: true, only: true });
const SET = namesOf<SetOverrideOptions>({
  key: true,
  until: true,
  plan: true,
  config: true,
  times: true,
  add: true,
  unlimited: true,
  blocked: true,
});

/** The table, as the operations need it: by itself, or inside a transaction. */
export interface OverrideAccess {
  /** All rows, a page at a time. */
  pages(): AsyncIterable<readonly OverrideRow[]>;
  /** The rows with these names, of a key or of all keys, and others. */
  readOf(of: OverrideRowIds): Promise<OverrideRow[]>;
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
        const valid = validateRule(of, configs.get(name)!, name, plans);
        const rule = ruleText(valid);
        // A later instant would be written with an exponent, which not every store reads.
        const until = Math.min(of.until ?? MAX_RETRY_AFTER, MAX_RETRY_AFTER);
        return { name: rowNameOf(kindOf(valid), name), key, rule, until, setAt: now };
      });
      for (const row of rows) await access.change({ id: row, row });
    },
    async get(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.get()");
      const { key } = plainOf(name, of).rows[0];
      const rows = await access.readOf({ names: rowNamesOf(name), key });
      return layersIn(rows, name, key, clock()).at(-1);
    },
    async list(name) {
      if (name !== undefined) resolve(name, {}, false);
      const found: RateLimitOverride[] = [];
      for await (const page of access.pages()) found.push(...inForce(options, page, name));
      return found;
    },
    async clear(name, of = {}) {
      rejectUnknownOptions(of, CLEAR, "overrides.clear()");
      const { only } = of;
      if (only !== undefined && !OVERRIDE_KINDS.includes(only)) {
        throw new RateLimitConfigError("only", only, `one of ${OVERRIDE_KINDS.join(", ")}`);
      }
      const { key } = plainOf(name, of).rows[0];
      const names = only === undefined ? rowNamesOf(name) : [name, rowNameOf(only, name)];
      const rows = (await access.readOf({ names, key })).filter(
        (row) =>
          row.key === key &&
          names.includes(row.name) &&
          (only === undefined || kindOfRow(row) === only),
      );
      let wasThere = false;
      // A ban ends last: if the store fails in between, nobody may more than before.
      const isBan = (row: OverrideRow) => Number(kindOfRow(row) === "blocked");
      for (const { name: id } of rows.toSorted((a, b) => isBan(a) - isBan(b))) {
        const isGone = await access.change({ id: { name: id, key }, row: undefined });
        wasThere ||= isGone;
      }
      return wasThere;
    },
  };
}

function inForce(
  { configs, clock }: OverrideOperationsOptions,
  rows: readonly OverrideRow[],
  name: string | undefined,
): RateLimitOverride[] {
  const now = clock();
  return rows
    .filter((row) => {
      const of = limitNameOf(row);
      return name === undefined ? configs.has(of) : of === name;
    })
    .flatMap((row) => overrideOf(row) ?? [])
    .filter(({ until = Infinity }) => now < until);
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
