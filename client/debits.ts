/** Tokens that calls are assumed to take, from when they are sent until the server tells of them. */
import { type Debit, type Entry, setDebits } from "./limit-entry.js";

/**
 * @param at an instant of the server's.
 * @param onChange the limit's figure has changed.
 * @param onCharged the call was charged for; whether the debit still stands, so that nothing that
 * the server said since knows of it.
 * @returns what settles the debit, see `RateLimitObserver.debit`.
 */
export function placeDebit(
  entry: Entry,
  at: number,
  count: number,
  onChange: () => void,
  onCharged: (stands: boolean) => void,
): (isCharged?: boolean) => void {
  const debit: Debit = { at, count, isCharged: false, isSent: false };
  let isSettled = false;

  function change(debits: Debit[]): void {
    setDebits(entry, debits);
    onChange();
  }

  change([...entry.debits, debit]);
  return (isCharged = false) => {
    if (isSettled) return;
    isSettled = true;
    const stands = entry.debits.includes(debit);
    if (isCharged) {
      // No later call may take the debit for its own.
      debit.isCharged = debit.isSent = true;
      onCharged(stands);
    } else if (stands) change(entry.debits.filter((other) => other !== debit));
  };
}

/** Whether there is a debit for a call that is about to be sent; each stands for one. */
export function claimDebit(entry: Entry | undefined): boolean {
  const debit = entry?.debits.find(({ isSent }) => !isSent);
  if (debit) debit.isSent = true;
  return debit !== undefined;
}
