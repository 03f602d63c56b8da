/** The errors that tell a client of a cluster where to go. */

/** The `host:port` of a `MOVED` or `ASK`. */
export function redirectionOf(
  error: unknown,
): { code: "MOVED" | "ASK"; address: string } | undefined {
  const match = /^(MOVED|ASK) \d+ (\S+)/.exec(error instanceof Error ? error.message : "");
  return match === null ? undefined : { code: match[1] as "MOVED" | "ASK", address: match[2]! };
}
