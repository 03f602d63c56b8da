/** The limit of the failed log-ins, and the bucket that a failure is taken from. */
import { MINUTE, type RateLimitConfig, SECOND } from "trpc-rate-limit";

export const logInLimits = {
  /** Five failures. The sixth closes the account for half a minute, and later ones for longer. */
  logIn: {
    kind: "token bucket",
    rate: 5,
    period: MINUTE,
    blockFor: [30 * SECOND, MINUTE, 2 * MINUTE],
    forgiveAfter: 10 * MINUTE,
  },
} as const satisfies Record<string, RateLimitConfig>;

/** The account of the demo. */
export const ACCOUNT = "demo";

/**
 * The bucket of the failed log-ins to an account. An application uses the account alone as the key, so
 * that a guesser who changes address or cookie gets no further. In this demo, all visitors share one
 * account, and each visitor has failures of its own.
 */
export function logInKey(account: string, visitor: string): string {
  return `${account}:${visitor}`;
}

/** The key that a page asks for is the account. A page may read only the account of the demo. */
export function requestedLogInKey(account: string | undefined, visitor: string): string | null {
  return account === ACCOUNT ? logInKey(account, visitor) : null;
}
