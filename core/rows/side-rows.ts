/**
 * Rows that a feature keeps beside a limit's own, such as the ids of calls with `once`. They are
 * under a name of their own, so `list(name)` does not show them. Each feature says by a config when
 * such a row is full: it then says no more than a missing one, and `prune` deletes it.
 */
import type { Bucket } from "../config.js";
import { describe, RateLimitConfigError } from "../errors.js";
import { MAX_KEY_LENGTH } from "../validate-key.js";

/** The rows of one feature. */
export interface SideRows {
  /** A part of their name. */
  readonly feature: string;
  /**
   * When they are full, by the config of their limit. `undefined`: this limit has none.
   *
   * @param onceFor the limiter's own, ms.
   */
  configOf(config: Bucket, onceFor: number): Bucket | undefined;
  /** The option by which a limit has such rows, if it has it. Construction checks its name then. */
  optionOf(config: Bucket): string | undefined;
}

/** The name of a feature's rows of a limit. */
export function sideName({ feature }: Pick<SideRows, "feature">, name: string): string {
  return `${prefixOf(feature)}${name}`;
}

/** What the names of all rows of a feature begin with. */
export function prefixOf(feature: string): string {
  return `trpc-rate-limit:${feature}:`;
}

/**
 * @param option the option that needs the rows, for the message.
 * @throws RateLimitConfigError when the name of a feature's rows would be too long for a database.
 */
export function validateSideName(rows: SideRows, name: string, option: string): void {
  const most = MAX_KEY_LENGTH - prefixOf(rows.feature).length;
  if (name.length <= most) return;
  throw new RateLimitConfigError(option, name, {
    message:
      `${option} needs a name of at most ${most} characters, because its rows have a longer one; ` +
      `got ${describe(name)}`,
  });
}
