/**
 * One class per kind of failure. Distinguish the classes by `kind` and `name`, not by `instanceof`, so
 * that the check also works between two copies of the package. A denial is data. A denial becomes an
 * error only where `throws: true` asks for that.
 */
import type { ShownConfig } from "./config.js";
import { waitInWords } from "./wait-in-words.js";

/**
 * The facts of a denial, plain JSON.
 *
 * - `retryAfter`: whole ms until the same call would pass, if no other call consumes tokens. 8e15
 *   (`MAX_RETRY_AFTER`) where no wait helps, as with credits.
 * - `value`: tokens left now; negative while reservations are outstanding.
 * - `now`: the server's clock, epoch ms, so that a reader can correct its own.
 *
 * If several limits were charged together, `name`, `value` and `config` are those of the exhausted
 * limit with the longest wait, and `retryAfter` is the wait of the whole call.
 */
export interface RateLimitErrorData<TName extends string = string> {
  /** Tells a denial from the package's other errors. */
  kind: "RateLimited";
  /** The limit that denied the call. */
  name: TName;
  /**
   * Whole ms, above 0, until the same call would pass. For slots (`kind: "concurrency"`), an upper bound:
   * by then, a slot is free whose holder gives no more sign. Slots of work that ends are free earlier, and
   * those of work that goes on are not.
   */
  retryAfter: number;
  /** The tokens left now; negative while reservations are outstanding. */
  value: number;
  /** The config by which the call was denied. */
  config: ShownConfig;
  /** The highest level of `warnAt` that is reached, such as 0.8; absent below all levels. */
  level?: number | undefined;
  /** The server's clock, epoch ms. */
  now: number;
  /**
   * Only if several limits were charged together: the exhausted limits, each once and with a wait of
   * its own, in the order in which they were charged. Limits that had enough tokens are missing. Limits
   * that clients may not know are missing, too.
   */
  denials?: readonly RateLimitDenial<TName>[] | undefined;
}

/** One of several limits that denied a call together. */
export interface RateLimitDenial<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** Whole ms, above 0, until this limit alone would let the call pass. */
  retryAfter: number;
  /** The tokens left now; negative while reservations are outstanding. */
  value: number;
  /** The config by which the call was denied. */
  config: ShownConfig;
  /** The highest level of `warnAt` that is reached, such as 0.8; absent below all levels. */
  level?: number | undefined;
}

/**
 * Makes the message of a denial, in an application's own words or language. The numbers stay in the data.
 *
 * @example
 * import { type DenialMessage, waitInWords } from "trpc-rate-limit";
 *
 * const denialMessage: DenialMessage = ({ retryAfter }) => {
 *   const wait = waitInWords(retryAfter, "de");
 *   return wait ? `Zu viele Anfragen. Wieder in ${wait}` : "Das Guthaben ist verbraucht";
 * };
 */
export type DenialMessage = (rateLimit: RateLimitErrorData) => string;

/** Tells people what they may do about a denial, without the name of a limit. */
export function adviceOf({ retryAfter }: { retryAfter: number }): string {
  const wait = waitInWords(retryAfter);
  return wait === undefined ? "Waiting does not help" : `Try again in ${wait}`;
}

/** The message of a denial, with every limit's name, where the application has no words of its own. */
export function denialMessage(rateLimit: RateLimitErrorData): string {
  const names = denialsOf(rateLimit).map(({ name }) => name);
  return `Rate limit "${names.join('", "')}" exceeded. ${adviceOf(rateLimit)}`;
}

/** A `message` that throws, or returns no text, must not turn a denial into another error. */
function messageBy(message: DenialMessage, rateLimit: RateLimitErrorData): string {
  try {
    const said: unknown = message(rateLimit);
    if (typeof said === "string") return said;
  } catch {
    // See above.
  }
  return denialMessage(rateLimit);
}

/** The message functions of errors, by error, for errors about fewer limits that are made from them. */
const ownMessages = new WeakMap<object, DenialMessage>();

/** The error of the same denial with other data. The same function makes its message. */
export function remadeError(error: unknown, rateLimit: RateLimitErrorData): RateLimitError {
  return new RateLimitError(rateLimit, ownMessages.get(Object(error) as object));
}

/**
 * Thrown for a denied call with `throws: true`. The facts are in `data.rateLimit`. The message is for
 * people: 'Rate limit "sendMessage" exceeded. Try again in 6 seconds'.
 *
 * @example
 * import { RateLimitError } from "trpc-rate-limit";
 *
 * try {
 *   await limiter.limit("sendMessage", { key: userId, throws: true });
 * } catch (error) {
 *   if (error instanceof RateLimitError) console.log(error.data.rateLimit.retryAfter);
 *   else throw error;
 * }
 */
export class RateLimitError<TName extends string = string> extends Error {
  /** The name of the class, the same in every copy of the package. */
  override readonly name = "RateLimitError";
  /** Tells a denial from the package's other errors. */
  readonly kind = "RateLimited";
  /** The facts of the denial, where `isRateLimitError` looks for them. */
  readonly data: { rateLimit: RateLimitErrorData<TName> };

  /**
   * @param rateLimit the facts of the denial.
   * @param message the message for people. By default, it names every limit, and says when to try again.
   */
  constructor(rateLimit: RateLimitErrorData<TName>, message: DenialMessage = denialMessage) {
    super(messageBy(message, rateLimit));
    this.data = { rateLimit };
    if (message !== denialMessage) ownMessages.set(this, message);
  }
}

/**
 * An option that cannot work, or a store that cannot do what was asked for.
 *
 * @example
 * import { createRateLimiter, memoryStore, RateLimitConfigError } from "trpc-rate-limit/server";
 *
 * try {
 *   const limits = { sendMessage: { kind: "token bucket", rate: -1, period: 1000 } } as const;
 *   createRateLimiter({ store: memoryStore(), limits });
 * } catch (error) {
 *   if (error instanceof RateLimitConfigError) console.error(error.message);
 * }
 */
export class RateLimitConfigError extends Error {
  /** The name of the class, the same in every copy of the package. */
  override readonly name = "RateLimitConfigError";
  /** Tells a wrong config from the package's other errors. */
  readonly kind = "InvalidConfig";

  /** @param problem what `option` must be, or a whole message. */
  constructor(
    /** The option that cannot work, such as `limits.sendMessage.rate`. */
    readonly option: string,
    /** The value that was given. */
    readonly value: unknown,
    problem: string | { message: string },
  ) {
    super(
      typeof problem === "string"
        ? `${option} must be ${problem}, got ${describe(value)}`
        : problem.message,
    );
  }
}

/**
 * A call with a `count`, a `key` or a name that is not valid. The call consumed nothing.
 *
 * @example
 * import { RateLimitInputError } from "trpc-rate-limit";
 *
 * try {
 *   await limiter.limit("sendMessage", { key: userId, count: Number(input) });
 * } catch (error) {
 *   // A count that is no number, for example: the caller's mistake, and no denial.
 *   if (error instanceof RateLimitInputError) console.log(error.reason);
 *   else throw error;
 * }
 */
export class RateLimitInputError extends Error {
  /** The name of the class, the same in every copy of the package. */
  override readonly name = "RateLimitInputError";
  /** Tells a wrong argument from the package's other errors. */
  readonly kind = "InvalidInput";

  /**
   * @param reason
   * - `"count"`: negative or not finite;
   * - `"unsatisfiable"`: a count that no wait could satisfy;
   * - `"key"`: empty, of more than 191 UTF-16 code units, or with a NUL or a lone surrogate; or not
   *   an address where `ipKey` wants one;
   * - `"no key"`: the `key` function of a host returned `null` for this caller;
   * - `"name"`: not valid, or unknown and without a config;
   * - `"once"`: an id for `once` that is empty, has a NUL or a lone surrogate, or is too long together
   *   with the key;
   * - `"holder"`: an id of a slot's holder that is empty or too long;
   * - `"holds"`: one more hold than a key may have open, 10,000;
   * - `"result"`: not a result that the function can use, such as one that the limiter never gave.
   */
  constructor(
    /** The argument that is not valid. */
    readonly reason:
      | "count"
      | "unsatisfiable"
      | "key"
      | "no key"
      | "name"
      | "once"
      | "holder"
      | "holds"
      | "result",
    message: string,
  ) {
    super(message);
  }
}

/**
 * The store failed, or did not answer in time: neither a denial nor a pass. If the store had
 * already been asked to write, it is unknown whether the tokens were spent.
 *
 * @example
 * import { RateLimitStoreError } from "trpc-rate-limit";
 *
 * try {
 *   await limiter.limit("sendMessage", { key: userId });
 * } catch (error) {
 *   if (error instanceof RateLimitStoreError) console.error("the database", error.cause);
 *   else throw error;
 * }
 */
export class RateLimitStoreError extends Error {
  /** The name of the class, the same in every copy of the package. */
  override readonly name = "RateLimitStoreError";
  /** Tells a store failure from the package's other errors. */
  readonly kind = "StoreFailure";
  /**
   * Whether the store has failed as a whole: it cannot be reached, is silent, or says that it stops,
   * starts or has no room. `false`: the store was too busy for this call, or it works and its set-up is
   * wrong. For example, a transaction held the row for too long, the application held all connections,
   * or the table was renamed. Only an outage opens a limit with `whenStoreFails: "allow"`, because
   * callers can keep a store busy on purpose, and a wrong set-up does not end by itself.
   */
  readonly isOutage: boolean;

  /** @param options `isOutage` is `true` by default. */
  constructor(message: string, options: ErrorOptions & { isOutage?: boolean } = {}) {
    super(message, options);
    this.isOutage = options.isOutage ?? true;
  }
}

/**
 * Whether `error` is a denial: a {@link RateLimitError}, the `TRPCError` that was made of it, the
 * `TRPCClientError` that a client gets, or the serialised form. Narrows to `error.data.rateLimit`.
 *
 * @example
 * import { isRateLimitError } from "trpc-rate-limit";
 *
 * try {
 *   await trpcClient.send.mutate({ text: "hello" });
 * } catch (error) {
 *   if (!isRateLimitError(error)) throw error;
 *   const { name, retryAfter } = error.data.rateLimit;
 *   console.log(`${name}: try again in ${retryAfter} ms`);
 * }
 */
export function isRateLimitError<TName extends string = string>(
  error: unknown,
): error is { data: { rateLimit: RateLimitErrorData<TName> } } {
  const { data } = Object(error) as { data?: { rateLimit?: Partial<RateLimitErrorData> } | null };
  const { kind, name, retryAfter, config, now } = data?.rateLimit ?? {};
  return (
    kind === "RateLimited" &&
    typeof name === "string" &&
    typeof retryAfter === "number" &&
    typeof config?.rate === "number" &&
    typeof now === "number"
  );
}

/**
 * Every limit that denied the call: the one in the data itself, then the others in its `denials`.
 * `denials` can be anything, because the data may be of another version of the package. Entries
 * without a config are left out, and the numbers of the others are not validated.
 */
export function denialsOf(data: RateLimitErrorData): RateLimitDenial[] {
  // `concat` takes a list, and anything else as one entry.
  return [data as RateLimitDenial]
    .concat(data.denials as RateLimitDenial[])
    .filter((denial, i) => !i || (denial?.config && denial.name !== data.name));
}

/** A value for a message, shortened, because the value may be hostile. */
export function describe(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
