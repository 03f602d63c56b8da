/** Tokens that calls are assumed to take, from when they are sent until the server tells of them. */
import { type Debit, type Entry, setDebits } from "./limit-entry.js";

export interface DebitOptions {
  /** The limit's figure has changed. */
  onChange(entry: Entry): void;
  /** Asks the server how the limit stands. */
  ask(entry: Entry): void;
  /** Whether changes arrive by themselves. */
  isLive(): boolean;
}

/**
 * @param at an instant of the server's.
 * @returns what settles the debit, see `RateLimitObserver.debit`.
 */
export function placeDebit(
  entry: Entry,
  at: number,
  count: number,
  { onChange, ask, isLive }: DebitOptions,
): (isCharged?: boolean) => void {
  const debit: Debit = { at, count, isCharged: false, isSent: false };
  let isSettled = false;

  function change(debits: Debit[]): void {
    setDebits(entry, debits);
    onChange(entry);
  }

  change([...entry.debits, debit]);
  return (isCharged = false) => {
    if (isSettled) return;
    isSettled = true;
    const stands = entry.debits.includes(debit);
    if (isCharged) {
      // No later call may take the debit for its own.
      debit.isCharged = debit.isSent = true;
      // News of the charge may have come and been taken for older than the debit, where the server's
      // clock is believed to be ahead. Whatever is read from now on knows of it. And what the debit
      // gave way to may have been read before the charge, if it was no news of a change.
      if (stands || !isLive()) ask(entry);
    } else if (stands) change(entry.debits.filter((other) => other !== debit));
  };
}

/** Whether there is a debit for a call that is about to be sent; each stands for one. */
export function claimDebit(entry: Entry | undefined): boolean {
  const debit = entry?.debits.find(({ isSent }) => !isSent);
  if (debit) debit.isSent = true;
  return debit !== undefined;
}
