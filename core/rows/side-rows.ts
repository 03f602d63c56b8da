/**
 * Rows that a limit has beside its own, such as the ids of calls with `once`. They are under a name of
 * their own, so `list(name)` does not show them. Each kind says by a config when such a row is full: it
 * then says no more than a missing one, and `prune` deletes it.
 */
import type { Bucket } from "../config.js";
import { describe, RateLimitConfigError } from "../errors.js";
import type { ConcurrencyConfig } from "../limit-config.js";
import { MAX_KEY_LENGTH } from "../validate-key.js";

/** What the names of all rows begin with that are no limit's own. */
export const RESERVED_PREFIX = "trpc-rate-limit:";

/** A kind of rows beside those of limits. */
export interface SideRows {
  /** What their names begin with. The name of their limit follows. */
  readonly prefix: string;
  /**
   * When they are full, by the config of their limit. `undefined`: this limit has none.
   *
   * @param onceFor the limiter's own, ms.
   */
  configOf(config: Bucket | ConcurrencyConfig, onceFor: number): Bucket | undefined;
  /** The option by which a limit has such rows, if it has it. Construction checks its name then. */
  optionOf(config: Bucket | ConcurrencyConfig): string | undefined;
  /** What the keys of a bucket's rows begin with. Absent: they have the key of the bucket. */
  keyStart?(storedKey: string): string;
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

/** Far above every number in a row that is full after a time. */
export const FULL = 2 ** 64;

/**
 * The config of rows that only time makes full: a window of so many tokens that a row is full when the
 * next one begins, whatever it says. A row with a negative number may need one more window.
 */
export function fullAfter(ms: number): Bucket {
  return { kind: "fixed window", rate: FULL, capacity: FULL, period: ms };
}
