/** Debits: the tokens that calls are assumed to take, from before the call until the server reports it. */
import type { Time } from "./clocks.js";
import type { Entry } from "./limit-entry.js";
import type { Update } from "./notify-watchers.js";
import { type Debit, UNCHARGED } from "./reported-debits.js";

export interface DebitOptions {
  timeOf(entry: Entry): Time;
  update: Update;
  /** Asks the server for the limit. */
  ask(entry: Entry): void;
  /** Whether the limit is still followed. */
  isFollowed(entry: Entry): boolean;
  /** Whether the server reports changes by itself. */
  isLive(): boolean;
  /** Counts questions and answers of the observer, in their order. */
  tick(): number;
}

/**
 * How long the stream may take to report a charge, ms. By default, a server reads the changes of
 * other processes every second.
 */
const REPORT_TIMEOUT = 2000;
/** The timeout after a report that does not show the charge, ms: it may be counted twice meanwhile. */
const DOUBT_TIMEOUT = 100;
/**
 * The longest pause between two questions, ms. Each pause is twice as long as the pause before. An
 * answer is waited for as long, so the timers of a page that was left have ended by then, too.
 */
const LAST_TIMEOUT = 10_000;

/** @returns a function that opens a debit, see `RateLimitObserver.debit`. */
export function createDebits(options: DebitOptions) {
  const { timeOf, update, ask, isFollowed, isLive, tick } = options;
  const givenBack = new Set<Entry>();

  /** Updates a microtask later: thousands of calls may fail in one tick, and each gives tokens back. */
  function updateSoon(entry: Entry): void {
    if (givenBack.size === 0) {
      queueMicrotask(() => {
        const some = [...givenBack];
        givenBack.clear();
        update(some);
      });
    }
    givenBack.add(entry);
  }

  return (entry: Entry, count: number): ((isCharged?: boolean) => void) => {
    const { now, offset, uncertainty } = timeOf(entry);
    const at = now + offset;
    const debit: Debit = { at, earliest: at - uncertainty, count, chargedAt: UNCHARGED };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const askLater = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        if (!entry.debits.has(debit) || !isFollowed(entry)) return;
        // While the call has no answer, ask only where a snapshot left the debit in doubt. The call may
        // have been charged before that snapshot, and still run: no later snapshot would show the charge.
        if (debit.chargedAt === UNCHARGED && !debit.isDoubtful) return;
        ask(entry);
        askLater(Math.min(Math.max(2 * ms, REPORT_TIMEOUT), LAST_TIMEOUT));
      }, ms);
    };
    let isSettled = false;
    entry.addDebit(debit);
    update([entry]);
    askLater(REPORT_TIMEOUT);
    return (isCharged) => {
      if (isSettled) return;
      isSettled = true;
      if (isCharged) {
        debit.chargedAt = tick();
        // No later call may claim the debit.
        entry.unclaimed.delete(debit);
        // Without a stream, ask. With a stream, wait for its report of the charge. Wait less where a
        // snapshot from about the time of the charge did not show it: tokens that came back may hide it.
        if (!isLive()) ask(entry);
        else askLater(debit.isDoubtful ? DOUBT_TIMEOUT : REPORT_TIMEOUT);
      } else if (entry.debits.has(debit)) {
        entry.giveBack(debit);
        updateSoon(entry);
      }
    };
  };
}
