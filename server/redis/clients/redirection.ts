/** The errors that tell a client of a cluster to try somewhere else, or later. */

export interface Redirection {
  code: "MOVED" | "ASK" | "CLUSTERDOWN";
  /** The `host:port` to ask. */
  address?: string | undefined;
}

export function redirectionOf(error: unknown): Redirection | undefined {
  const message = error instanceof Error ? error.message : "";
  // TRYAGAIN is about a slot on its way, of which some keys have arrived and others not.
  if (/^(CLUSTERDOWN|TRYAGAIN) /.test(message)) return { code: "CLUSTERDOWN" };
  const match = /^(MOVED|ASK) \d+ (\S+)/.exec(message);
  return match === null ? undefined : { code: match[1] as "MOVED" | "ASK", address: match[2] };
}
