/**
 * Side rows: rows that a limit has beside its own, such as the ids of calls with `once`. Side rows have a
 * name of their own, so `list(name)` does not show them. Each kind has a config that tells when such a
 * row is full. A full row says no more than a missing row, and `prune` deletes it.
 */
import type { Bucket } from "../config.js";
import { describe, RateLimitConfigError } from "../errors.js";
import type { ConcurrencyConfig } from "../limit-config.js";
import { MAX_KEY_LENGTH } from "../validate-key.js";

/** The start of the names of all side rows. */
export const RESERVED_PREFIX = "trpc-rate-limit:";

/** One kind of side rows. */
export interface SideRows {
  /** The start of the names of these rows. The name of their limit follows. */
  readonly prefix: string;
  /**
   * The config that tells when such a row is full, by the config of the limit. `undefined`: the limit has
   * no such rows, or they are never full.
   *
   * @param onceFor the limiter's own `onceFor`, ms.
   */
  configOf(config: Bucket | ConcurrencyConfig, onceFor: number): Bucket | undefined;
  /** The option by which this limit has such rows, if any. With it, construction checks the limit's name. */
  optionOf(config: Bucket | ConcurrencyConfig): string | undefined;
  /** The start of the keys of these rows, for one bucket. Absent: the rows have the key of the bucket. */
  keyStart?(storedKey: string): string;
  /** The key of the bucket in the key of such a row, for rows whose keys begin with something else. */
  bucketKeyOf?(key: string): string;
}

/** The name of the rows of this kind that a limit has. */
export function sideName({ prefix }: SideRows, name: string): string {
  return prefix + name;
}

/**
 * @param option the option that needs the rows, for the message.
 * @throws RateLimitConfigError when the name of the rows would be too long for a database.
 */
export function validateSideName({ prefix }: SideRows, name: string, option: string): void {
  const most = MAX_KEY_LENGTH - prefix.length;
  if (name.length <= most) return;
  throw new RateLimitConfigError(option, name, {
    message:
      `${option} needs a name of at most ${most} characters, because its rows have a longer one; ` +
      `got ${describe(name)}`,
  });
}

/** Far above every number in a row that only time makes full. */
export const FULL = 2 ** 64;

/**
 * The config of rows that only time makes full: a window of so many tokens that a row is full when the
 * next window begins, whatever the row says. A row with a negative number may need one more window.
 */
export function fullAfter(ms: number): Bucket {
  return { kind: "fixed window", rate: FULL, capacity: FULL, period: ms };
}
