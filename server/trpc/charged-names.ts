/** The limits that a procedure is charged: names, and lists of names of which the first pays. */
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { validateFirst } from "../limiter/types/payers.js";

/** Several limits of which the first pays that has the tokens; see `limitFirst` of the limiter. */
export interface FirstNames<TName extends string = string> {
  /** The limits that may pay, in order. */
  first: readonly TName[];
  /**
   * Each limit gives the tokens that it has, in order. The `count` of the first limit is then the count of
   * the payment.
   * @default false: one limit pays
   */
  split?: boolean | undefined;
}

/** One name, or several names and lists that are charged all or nothing. */
export type ChargedNames<TName extends string = string> =
  TName | readonly (TName | FirstNames<TName>)[];

/** A limit that is charged, or the limits of which the first pays. */
export interface Entry {
  readonly names: readonly string[];
  /** Whether only the first of the names pays that can. */
  readonly isFirst: boolean;
  readonly split: boolean;
}

const OPTIONS = namesOf<FirstNames>({ first: true, split: true });

/**
 * The names of a procedure, one entry for each item of its list.
 *
 * @throws RateLimitConfigError for a `first` that is not valid.
 */
export function entriesOf(names: ChargedNames): readonly Entry[] {
  // In plain JavaScript, `names` can be any value.
  const list = typeof names === "string" ? [names] : Array.isArray(names) ? names : [];
  return (list as readonly (string | FirstNames)[]).map((item) => {
    if (!isFirst(item)) return { names: [item], isFirst: false, split: false };
    rejectUnknownOptions(item, OPTIONS, "a first of rateLimited()");
    const { first, split = false } = item;
    validateFirst(item);
    return { names: first, isFirst: true, split };
  });
}

function isFirst(item: unknown): item is FirstNames {
  return typeof item === "object" && item !== null && "first" in item;
}
