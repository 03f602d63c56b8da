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
