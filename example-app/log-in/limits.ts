/** The limit of the failed log-ins, and the bucket that a failure is taken from. */
import { MINUTE, type RateLimitConfig, SECOND } from "trpc-rate-limit";

export const logInLimits = {
  /** Five failures. The sixth closes the account for half a minute. */
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: 30 * SECOND },
} as const satisfies Record<string, RateLimitConfig>;

/**
 * The bucket of the failed log-ins to an account. An application takes the account alone, so that a
 * guesser who changes address or cookie gets no further. In this demo, all visitors share one
 * account, and each has failures of its own.
 */
export function logInKey(account: string, visitor: string): string {
  return `${account}:${visitor}`;
}

/** The key that a page asks for is the account. Only that of the demo may be read. */
export function requestedLogInKey(account: string | undefined, visitor: string): string | null {
  return account === "demo" ? logInKey(account, visitor) : null;
}
