/**
 * The answer of a host to each of the package's errors: the status, and whether the client may read the
 * message. Errors are recognized by their names, because an application in CommonJS has another copy of
 * the error classes. The `kind` of an error would not do: errors of the application may have the same
 * `kind`.
 */
import { isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";

/** The status of an answer, as a number and as hosts name it. */
interface Status {
  status: number;
  code:
    | "BAD_REQUEST"
    | "INTERNAL_SERVER_ERROR"
    | "PAYLOAD_TOO_LARGE"
    | "SERVICE_UNAVAILABLE"
    | "TOO_MANY_REQUESTS";
}

/**
 * - `denied`: the limits have no tokens for the request. The client gets the facts of the denial.
 * - `input`: a count, a key, an id or a name is not valid. The client may read the message.
 * - `store`: the store has failed. The message has internals.
 * - `config`: a mistake of the server. The message has internals.
 */
export type AnsweredError = Status &
  (
    | { kind: "denied"; rateLimit: RateLimitErrorData }
    | { kind: "input"; reason: unknown }
    | { kind: "store" }
    | { kind: "config" }
  );

const DENIED = { status: 429, code: "TOO_MANY_REQUESTS" } as const;
const STORE = { status: 503, code: "SERVICE_UNAVAILABLE" } as const;
const CONFIG = { status: 500, code: "INTERNAL_SERVER_ERROR" } as const;
const INPUT = { status: 400, code: "BAD_REQUEST" } as const;
/** A count that no wait could satisfy. */
const UNSATISFIABLE = { status: 413, code: "PAYLOAD_TOO_LARGE" } as const;

/**
 * The reasons of a `RateLimitInputError` that a client can cause. The other reasons are mistakes of the
 * server, which alone chooses names.
 */
const OF_CLIENTS: ReadonlySet<unknown> = new Set([
  "key",
  "no key",
  "count",
  "once",
  "unsatisfiable",
]);

/** Whether a client can have caused an error about an input. */
export function isOfClient(reason: unknown): boolean {
  return OF_CLIENTS.has(reason);
}

/** @returns `undefined` for an error that is none of the package's. */
export function statusOfError(error: unknown): AnsweredError | undefined {
  if (isRateLimitError(error)) {
    return { kind: "denied", ...DENIED, rateLimit: error.data.rateLimit };
  }
  const { name, reason } = Object(error) as { name?: unknown; reason?: unknown };
  if (name === "RateLimitStoreError") return { kind: "store", ...STORE };
  if (name === "RateLimitConfigError") return { kind: "config", ...CONFIG };
  if (name !== "RateLimitInputError") return undefined;
  return { kind: "input", ...(reason === "unsatisfiable" ? UNSATISFIABLE : INPUT), reason };
}
