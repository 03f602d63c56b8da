/**
 * Rejects options that do not exist. In plain JavaScript a misspelt option would be ignored, and
 * a misspelt `key` would charge the bucket that all callers share.
 */
import { RateLimitConfigError, describe } from "../../../core/errors.js";

/** The names of the options of `TOptions`. The compiler checks that the list is complete. */
export function namesOf<TOptions>(
  options: Record<keyof Required<TOptions>, true>,
): ReadonlySet<string> {
  return new Set(Object.keys(options));
}

/**
 * Makes no list of the options, because every call passes here.
 *
 * @param of the method that has the options, such as `limit()`.
 * @throws RateLimitConfigError quoting the option.
 */
export function rejectUnknownOptions(
  options: object,
  known: ReadonlySet<string>,
  of: string,
): void {
  if (typeof options !== "object" || options === null) {
    throw new RateLimitConfigError(`the options of ${of}`, options, "an object");
  }
  for (const option in options) {
    if (known.has(option) || !Object.hasOwn(options, option)) continue;
    const value = (options as Record<string, unknown>)[option];
    throw new RateLimitConfigError(option, value, {
      message:
        `${option} is not an option of ${of}, got ${describe(value)}; ` +
        `use ${[...known].join(", ")}`,
    });
  }
}
