/** The key of the rows that a caller of the admin router means. */
import type { Operator } from "../../limiter/parts/operator.js";

/**
 * @returns the stored key; `undefined` for the shared bucket.
 * @throws RateLimitConfigError where `hashKey` does not return a valid key.
 */
export function storedKeyOf(
  { toStoredKey }: Pick<Operator, "toStoredKey">,
  { key, stored = false }: { key?: string | undefined; stored?: boolean | undefined } = {},
): string | undefined {
  return stored ? key : toStoredKey(key);
}

/** The key as the application knows it; `undefined` where the caller sends the key of the rows. */
export function givenKeyOf({
  key,
  stored = false,
}: {
  key?: string | undefined;
  stored?: boolean | undefined;
} = {}): string | undefined {
  return stored ? undefined : key;
}
