/** `limiter.overrides`: sets, reads and clears what the table says. */
import { MAX_RETRY_AFTER } from "../../../core/config.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { KeyOptions } from "../call-options.js";
import { namesOf, rejectUnknownOptions } from "../known-options.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import type { OverrideRow } from "../../store/override-table.js";
import type { Call } from "../../store/store.js";
import {
  changeOverride,
  type ChangeOverrideOptions,
  type OverrideChange,
} from "./change-override.js";
import type { KnownOverrides } from "./known-overrides.js";
import { overrideOf, ruleText, validateRule, validateUntil } from "./override-rule.js";
import type {
  OverrideKeyOptions,
  RateLimitOverride,
  RateLimitOverrides,
  SetOverrideOptions,
} from "./override-types.js";

const KEY = namesOf<OverrideKeyOptions>({ key: true });
const SET = namesOf<SetOverrideOptions>({
  key: true,
  until: true,
  config: true,
  times: true,
  unlimited: true,
  blocked: true,
});

/** The table, as the operations need it: by itself, or inside a transaction. */
export interface OverrideAccess {
  read(): Promise<OverrideRow[]>;
  /** Resolves with whether the override is there now, or was there before it ended. */
  change(change: OverrideChange): Promise<boolean>;
}

export interface OverrideOperationsOptions extends Pick<
  ChangeOverrideOptions,
  "configs" | "clock"
> {
  /** Resolves a name and a key without overrides. Throws where they are not valid. */
  resolve(name: string, options: KeyOptions): ResolvedLimit;
}

export function createOverrideOperations(
  options: OverrideOperationsOptions,
  access: OverrideAccess,
): RateLimitOverrides {
  const { configs, clock, resolve } = options;

  /** `{ key: undefined }` throws: it would be about all keys. */
  function plainOf(name: string, of: OverrideKeyOptions): ResolvedLimit {
    return resolve(name, "key" in of ? { key: of.key } : {});
  }

  return {
    async set(name, of) {
      rejectUnknownOptions(of, SET, "overrides.set()");
      const plain = plainOf(name, of);
      const { key } = plain.rows[0];
      const now = clock();
      validateUntil(of.until, now);
      const rule = ruleText(validateRule(of, configs.get(name)!, name));
      // Later ones would be written with an exponent, which not every store reads.
      const until = Math.min(of.until ?? MAX_RETRY_AFTER, MAX_RETRY_AFTER);
      const row = { name, key, rule, until, setAt: now };
      await access.change({ plain, id: row, row });
    },
    async get(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.get()");
      const key = plainOf(name, of).rows[0].key || undefined;
      return (await read(options, access, name)).find((override) => override.key === key);
    },
    async list(name) {
      if (name !== undefined) resolve(name, {});
      return read(options, access, name);
    },
    async clear(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.clear()");
      const plain = plainOf(name, of);
      const { key } = plain.rows[0];
      return access.change({ plain, id: { name, key }, row: undefined });
    },
  };
}

export interface OwnAccessOptions extends ChangeOverrideOptions {
  known: KnownOverrides;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  /** Tells the listeners of this process and the other processes. */
  published(): void;
}

/** The table by itself: each change is a transaction of its own. */
export function ownAccess(options: OwnAccessOptions): OverrideAccess {
  return {
    read: () => options.bound((call) => options.table.read(call)),
    change: (override) => change(options, override),
  };
}

/** This process obeys before its caller goes on. A write may have taken effect if it fails. */
async function change(options: OwnAccessOptions, override: OverrideChange): Promise<boolean> {
  const { known, bound, published } = options;
  let result: boolean;
  try {
    result = await bound((call) => changeOverride(options, override, call));
  } catch (error) {
    known.changed();
    published();
    throw error;
  }
  known.changed();
  // If it fails, the next call reads the table.
  await known.readAgain().catch(() => {});
  published();
  return result;
}

async function read(
  { configs, clock }: OverrideOperationsOptions,
  access: OverrideAccess,
  name: string | undefined,
): Promise<RateLimitOverride[]> {
  const now = clock();
  return (await access.read())
    .filter((row) => (name === undefined ? configs.has(row.name) : row.name === name))
    .flatMap((row) => overrideOf(row) ?? [])
    .filter(({ until = Infinity }) => now < until);
}

/** Deletes the overrides of a stored key, of all limits. Resolves with their number. */
export async function forgetOverrides(
  {
    table,
    known,
    bound,
    published,
  }: Pick<OwnAccessOptions, "table" | "known" | "bound" | "published">,
  storedKey: string,
): Promise<number> {
  const rows = (await bound((call) => table.read(call))).filter(({ key }) => key === storedKey);
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
