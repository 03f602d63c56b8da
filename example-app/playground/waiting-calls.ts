/** The calls that have no answer yet. Their numbers rise. */
export function createWaitingCalls() {
  const waiting = new Set<number>();
  let last = 0;
  return {
    get size() {
      return waiting.size;
    },
    /** The call that was sent last. */
    get last() {
      return last;
    },
    /** @returns the number of a new call. */
    send(): number {
      waiting.add(++last);
      return last;
    },
    end: (call: number) => void waiting.delete(call),
    /** Whether this call and all that were sent before it have ended. */
    haveEndedUpTo(call: number): boolean {
      // A set keeps the order in which calls were added.
      const [first = Infinity] = waiting;
      return first > call;
    },
  };
}
