/** Calls that wait for their limit, one queue per limit and key, in order of arrival. */
import type { RateLimitErrorData } from "../core/errors.js";
import { idOf } from "./limit-entry.js";
import type { KnownRefusals, LimitUse } from "./known-refusals.js";

export interface HeldCall {
  use: LimitUse;
  /** What would be said to it now; `undefined` when it may go. */
  refusal(): RateLimitErrorData | undefined;
  /** @param answered to be called when there is an answer. */
  send(answered: () => void): void;
  /** It would have to wait for longer than it may. */
  fail(data: RateLimitErrorData): void;
}

export interface CallQueue {
  /** Whether a call has to queue up behind others. */
  has(use: LimitUse): boolean;
  /** Returns how to leave the queue. */
  hold(call: HeldCall): () => void;
}

interface Waiting extends HeldCall {
  /** When it gives up, on the monotonic clock. */
  deadline: number;
  jitter: number;
  /** When it goes, as far as is known. */
  at: number;
}

/** How often a queue looks whether things have changed, ms: limits are reset, machines sleep. */
const LOOK_INTERVAL = 1000;

/** @param jitter the most that a call waits beyond its turn, ms, so that tabs do not go together. */
export function createCallQueue(
  { took }: Pick<KnownRefusals, "took">,
  monotonic: () => number,
  maxWait: number,
  jitter: number,
): CallQueue {
  const queues = new Map<string, { calls: Waiting[]; timer?: ReturnType<typeof setTimeout> }>();

  function advance(id: string): void {
    const queue = queues.get(id);
    if (queue === undefined) return;
    clearTimeout(queue.timer);
    const now = monotonic();
    for (const call of Array.from(queue.calls)) {
      const data = call.refusal();
      const opens = now + (data?.retryAfter ?? 0);
      if (data && opens > call.deadline) {
        remove(queue.calls, call);
        call.fail(data);
      } else if (call === queue.calls[0]) {
        // One that has not been refused goes at once; a limit that opens early opens for every tab.
        call.at = data
          ? Math.min(opens + call.jitter, call.deadline)
          : Math.min(call.at, now + call.jitter);
        if (data || call.at > now) continue;
        remove(queue.calls, call);
        call.send(took(call.use));
      }
    }
    const [next] = queue.calls;
    if (next === undefined) queues.delete(id);
    else {
      const pause = Math.min(Math.max(0, next.at - now), LOOK_INTERVAL);
      queue.timer = setTimeout(() => advance(id), pause);
    }
  }

  return {
    has: (use) => queues.has(idOf(use)),
    hold(call) {
      const id = idOf(call.use);
      const queue = queues.get(id) ?? { calls: [] };
      queues.set(id, queue);
      const waiting = {
        ...call,
        deadline: monotonic() + maxWait,
        jitter: Math.random() * jitter,
        at: 0,
      };
      queue.calls.push(waiting);
      advance(id);
      return () => {
        if (remove(queue.calls, waiting)) advance(id);
      };
    },
  };
}

function remove<TItem>(items: TItem[], item: TItem): boolean {
  const index = items.indexOf(item);
  if (index >= 0) items.splice(index, 1);
  return index >= 0;
}
