/** `limiter.overrides`: sets, reads and clears what the table says. */
import { type Bucket, MAX_RETRY_AFTER } from "../../../core/config.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { KeyOptions } from "../call-options.js";
import { namesOf, rejectUnknownOptions } from "../known-options.js";
import type { ResolvedLimit } from "../resolve-limit.js";
import type { OverrideTable } from "../../store/override-table.js";
import type { Call } from "../../store/store.js";
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

export interface OverrideOperationsOptions {
  table: OverrideTable;
  known: KnownOverrides;
  configs: ReadonlyMap<string, Bucket>;
  clock(): number;
  /** Resolves a name and a key without overrides. Throws where they are not valid. */
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  bound<TResult>(work: (call: Call) => Promise<TResult>): Promise<TResult>;
  /** Tells the listeners of this process and the other processes. */
  published(): void;
}

export function createOverrideOperations(options: OverrideOperationsOptions): RateLimitOverrides {
  const { table, configs, clock, resolve } = options;

  /** The key of the row in the table. `{ key: undefined }` throws: it would be about all keys. */
  function storedKey(name: string, of: OverrideKeyOptions): string {
    const given: KeyOptions = "key" in of ? { key: of.key } : {};
    return resolve(name, given).rows[0].key;
  }

  return {
    async set(name, of) {
      rejectUnknownOptions(of, SET, "overrides.set()");
      const key = storedKey(name, of);
      const now = clock();
      validateUntil(of.until, now);
      const rule = ruleText(validateRule(of, configs.get(name)!, name));
      // Later ones would be written with an exponent, which not every store reads.
      const until = Math.min(of.until ?? MAX_RETRY_AFTER, MAX_RETRY_AFTER);
      await change(options, (call) => table.write({ name, key, rule, until, setAt: now }, call));
    },
    async get(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.get()");
      const key = storedKey(name, of) || undefined;
      return (await read(options, name)).find((override) => override.key === key);
    },
    async list(name) {
      if (name !== undefined) resolve(name, {});
      return read(options, name);
    },
    async clear(name, of = {}) {
      rejectUnknownOptions(of, KEY, "overrides.clear()");
      const key = storedKey(name, of);
      return change(options, (call) => table.remove(name, key, call));
    },
  };
}

/** This process obeys before its caller goes on. A write may have taken effect if it fails. */
async function change<TResult>(
  { known, bound, published }: OverrideOperationsOptions,
  write: (call: Call) => Promise<TResult>,
): Promise<TResult> {
  let result: TResult;
  try {
    result = await bound(write);
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
  { table, configs, clock, bound }: OverrideOperationsOptions,
  name: string | undefined,
): Promise<RateLimitOverride[]> {
  const now = clock();
  const rows = await bound((call) => table.read(call));
  return rows
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
  }: Pick<OverrideOperationsOptions, "table" | "known" | "bound" | "published">,
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
