/** The errors of Redis, and the errors that callers receive instead. */
import { RateLimitStoreError } from "../../core/errors.js";

/** The server carried nothing out, so the calls can be decided again. */
export class RedisConflictError extends Error {
  override readonly name = "RedisConflictError";

  constructor() {
    super("another process holds these rate limits");
  }
}

/** An error of the store itself. The message is for the user of the store. */
export class RedisStoreError extends Error {
  override readonly name: string = "RedisStoreError";
}

/** The server works, but cannot be used with its present configuration. */
export class RedisSetUpError extends RedisStoreError {
  override readonly name = "RedisSetUpError";
}

/** The server has refused a command because its deadline was over. Nothing was carried out. */
export class RedisLateError extends RedisStoreError {
  override readonly name = "RedisLateError";
}

/**
 * The messages for errors of a server that the store cannot use. The messages of clients quote keys and
 * commands; these messages must not.
 */
const HINTS: readonly [RegExp, string][] = [
  [/^CROSSSLOT/, "the server is a cluster: give redisStore the client of a cluster, or `tags: 1`"],
  [/^OOM /, "Redis has no memory left: raise maxmemory, or shorten the periods of limits"],
  [/^READONLY/, "this is a replica: connect to the master"],
];

export function redisError(cause: unknown): RateLimitStoreError {
  if (cause instanceof RateLimitStoreError) return cause;
  const own = cause instanceof RedisStoreError;
  const said = own ? cause.message : messageOf(cause);
  const hint = HINTS.find(([pattern]) => pattern.test(said))?.[1];
  return new RateLimitStoreError(
    `the rate limit store failed: ${said}${hint === undefined ? "" : ` (${hint})`}`,
    { cause: own ? cause : withoutCommand(cause), isOutage: !isSetUp(cause, said) },
  );
}

/** Whether Redis answers, but is set up wrong. Such an error must not let calls through. */
function isSetUp(cause: unknown, said: string): boolean {
  if (cause instanceof RedisStoreError) return cause instanceof RedisSetUpError;
  return /^(CROSSSLOT|NOPERM|NOAUTH|WRONGPASS|WRONGTYPE|OOM|ERR) /.test(said);
}

export function isNoScript(error: unknown): boolean {
  return messageOf(error).includes("NOSCRIPT");
}

function messageOf(error: unknown): string {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown };
  for (const text of [message, code]) {
    if (typeof text === "string" && text !== "") return text.replace(QUOTED, "'…'");
  }
  return "an error without a message";
}

/** Keys can be e-mail addresses, and some messages of Redis quote them. */
const QUOTED = /'[^']*'/g;

/** The same error without the command, because its arguments are keys. */
function withoutCommand(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause;
  const copy = new Error(messageOf(cause));
  copy.name = cause.name;
  const { code } = cause as { code?: unknown };
  return code === undefined ? copy : Object.assign(copy, { code });
}
