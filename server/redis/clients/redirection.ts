/** The errors that tell a client of a cluster to try somewhere else, or later. */
import { sleep } from "../../timers/sleep.js";

/** As many redirections as the clients follow by themselves. */
export const MAX_TRIES = 16;
/** How long a slot is left alone that has no master, or is on its way, ms. As in ioredis. */
const PAUSE = 100;

export interface Redirection {
  code: "MOVED" | "ASK" | "LATER";
  /** The `host:port` to ask, unless the code is `LATER`. */
  address?: string | undefined;
}

export function redirectionOf(error: unknown): Redirection | undefined {
  const message = error instanceof Error ? error.message : "";
  // TRYAGAIN is about a slot on its way, of which some keys have arrived and others not.
  if (/^(CLUSTERDOWN|TRYAGAIN) /.test(message)) return { code: "LATER" };
  const match = /^(MOVED|ASK) \d+ (\S+)/.exec(message);
  return match === null ? undefined : { code: match[1] as "MOVED" | "ASK", address: match[2] };
}

export function pause(): Promise<void> {
  return sleep(PAUSE);
}

/** Tries again while the cluster asks for that: it has not carried the command out. */
export async function untilServed<TReply>(send: () => Promise<TReply>): Promise<TReply> {
  for (let tries = 1; ; tries++) {
    try {
      return await send();
    } catch (error) {
      if (redirectionOf(error)?.code !== "LATER" || tries >= MAX_TRIES) throw error;
      await pause();
    }
  }
}
