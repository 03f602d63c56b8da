/** A caller's wait in line for a slot: the caller asks now and then whether its turn has come. */
import { changeDigest } from "../../changes/change-digest.js";
import type { ChangeListener } from "../../changes/change-channel.js";
import type { Context } from "../context/context.js";
import { handOver, type InLine, lineDecision } from "./line-decisions.js";
import type { Entered } from "./slot-decisions.js";
import type { SlotsLimit } from "./slots-limit.js";

export interface LineContext extends Pick<Context, "apply" | "environment"> {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after each change by this process, and by other processes where there is a channel. */
  listen(listener: ChangeListener): () => void;
}

interface Wait {
  /** ms. */
  maxWait: number;
  signal: AbortSignal | undefined;
  onPlace: ((place: number) => void) | undefined;
  /** Whether the caller takes over a slot that has its nonce. */
  isNamed: boolean;
}

/**
 * The pause between two questions of the first caller in line, ms. Callers behind it pause up to four
 * times as long.
 */
const PAUSE = 250;

/** Resolves with `denied` when the wait is over or the line is full. */
export async function waitInLine(
  context: LineContext,
  limit: SlotsLimit,
  nonce: number,
  { maxWait, signal, onPlace, isNamed }: Wait,
): Promise<{ entered: Entered; sentAt: number }> {
  const { apply, environment, sleep, listen } = context;
  const caller: InLine = { seat: undefined, stays: maxWait > 0, isNamed };
  const until = environment.clock() + maxWait;
  const digest = changeDigest(limit.name, limit.key);
  let wake = new AbortController();
  let isNews = false;
  const unlisten = listen((changed) => {
    if (changed !== digest) return;
    isNews = true;
    wake.abort();
  });
  const onAbort = () => wake.abort();
  signal?.addEventListener("abort", onAbort);

  async function ask() {
    const sentAt = performance.now();
    const decision = lineDecision(limit, caller, nonce, environment);
    const [entered] = (await apply([decision])) as [Entered];
    return { entered, sentAt };
  }

  let place: number | undefined;
  try {
    for (;;) {
      isNews = false;
      const answer = await ask();
      if (answer.entered.kind !== "waiting") return answer;
      signal?.throwIfAborted();
      const isMoved = answer.entered.place !== place;
      place = answer.entered.place;
      if (isMoved) onPlace?.(place);
      const left = until - environment.clock();
      if (!(left > 0)) caller.stays = false;
      if (!caller.stays || isNews) continue;
      const pause = Math.min(PAUSE * Math.min(4, place), limit.seatTtl / 4, left);
      wake = new AbortController();
      // The signal may have been aborted since it was last looked at.
      if (signal?.aborted) continue;
      await sleep(pause, wake.signal).catch(() => {});
      if (signal?.aborted) throw signal.reason;
    }
  } catch (error) {
    await leave();
    throw error;
  } finally {
    unlisten();
    signal?.removeEventListener("abort", onAbort);
  }

  /** Gives the seat up, and the slot that the caller may have got meanwhile. */
  async function leave(): Promise<void> {
    caller.stays = false;
    // If the store fails, the seat and the slot are free when their time is over.
    const { entered } = await ask().catch(() => ({ entered: undefined }));
    if (entered?.kind !== "entered") return;
    await apply([handOver(limit, entered.holder, environment)]).catch(() => {});
  }
}
