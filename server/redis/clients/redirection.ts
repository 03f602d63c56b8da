/** The errors that tell a client of a cluster to try somewhere else, or later. */
import { sleep } from "../../timers/sleep.js";

/** As many redirections as the clients follow by themselves. */
export const MAX_TRIES = 16;
/**
 * The pause before a command is sent again to a slot that has no master or is being moved, ms. As in
 * ioredis.
 */
const PAUSE = 100;

export interface Redirection {
  code: "MOVED" | "ASK" | "LATER";
  /** The `host:port` to ask, unless the code is `LATER`. */
  address?: string | undefined;
}

export function redirectionOf(error: unknown): Redirection | undefined {
  const message = error instanceof Error ? error.message : "";
  // TRYAGAIN is about a slot that is being moved: some keys of the command have arrived, and others have
  // not.
  if (/^(CLUSTERDOWN|TRYAGAIN) /.test(message)) return { code: "LATER" };
  const match = /^(MOVED|ASK) \d+ (\S+)/.exec(message);
  return match === null ? undefined : { code: match[1] as "MOVED" | "ASK", address: match[2] };
}

export function pause(): Promise<void> {
  return sleep(PAUSE);
}

/**
 * Sends again while the cluster says "later". The cluster has not carried the command out in that case.
 */
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
