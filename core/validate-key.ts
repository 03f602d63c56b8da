/**
 * Checks the strings that identify a row. The bounds are those of the narrowest database. MySQL's
 * indexes hold 191 characters of a `utf8mb4` column. PostgreSQL's text holds no NUL. A lone
 * surrogate has no UTF-8 form, so its key would turn into another key on the way to the database.
 */
import { describe, RateLimitInputError } from "./errors.js";

/** The most UTF-16 code units (`key.length`) that a key or a name can have. */
export const MAX_KEY_LENGTH = 191;

/**
 * Throws for a key that some database could not distinguish from every other key. An empty string is an
 * error, because a missing user id looks like that. `undefined` is the shared bucket here. Calls that
 * give `key: undefined` are refused before, by the limiter's resolver.
 *
 * @throws RateLimitInputError with `reason: "key"`.
 */
export function validateKey(key: string | undefined): void {
  if (key === undefined) return;
  const problem = problemOf(key);
  if (problem !== undefined) {
    throw new RateLimitInputError("key", `key must ${problem}${kindOf(key)}`);
  }
}

/**
 * A text for messages, in the place of a key or an id. Never the key itself: a key is often an e-mail
 * address or the id of a user, and messages end up in logs.
 */
export function kindOf(key: unknown): string {
  if (typeof key === "string") return "";
  return `, got ${typeof key === "number" ? "a number" : describe(key)}`;
}

/**
 * Throws for the name of a limit, by the rules for a key.
 *
 * @throws RateLimitInputError with `reason: "name"`.
 */
export function validateName(name: string): void {
  const problem = problemOf(name);
  if (problem !== undefined) {
    throw new RateLimitInputError("name", `name must ${problem}, got ${describe(name)}`);
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** The requirement that a value does not meet as a key, for a message. `undefined` for a valid key. */
export function problemOf(value: unknown): string | undefined {
  if (typeof value !== "string") return "be a string";
  if (value === "") return "not be empty";
  if (value.length > MAX_KEY_LENGTH) {
    return `have at most ${MAX_KEY_LENGTH} characters (it has ${value.length})`;
  }
  if (value.includes("\0")) return "contain no NUL character";
  if (LONE_SURROGATE.test(value)) return "contain no lone surrogate";
  return undefined;
}
