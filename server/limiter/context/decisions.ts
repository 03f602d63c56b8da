/** The listeners of decisions: the option `onDecision`, and listeners for a while. */
import { notify } from "../../report/notify.js";
import type { DecisionEvent, DecisionListener } from "../types/limiter-options.js";

export type Decisions = ReturnType<typeof createDecisions>;

/** No listener. For work that is no decision of a caller. */
export const UNHEARD = { heard: undefined } as const;

/** @param own the option `onDecision`. */
export function createDecisions(own: DecisionListener | undefined) {
  const listeners = new Set<DecisionListener>();

  function heardBy(): DecisionListener | undefined {
    if (listeners.size === 0) return own;
    const all = own === undefined ? [...listeners] : [own, ...listeners];
    if (all.length === 1) return all[0];
    return (event) => {
      for (const each of all) notify(each, event);
    };
  }

  const decisions = {
    /** Tells all listeners. `undefined` while there is no listener: no event is made then. */
    heard: own,

    /** Tells all listeners of an operator's action, which is no call; see `OperatorAction`. */
    tell(event: DecisionEvent): void {
      if (decisions.heard !== undefined) notify(decisions.heard, event);
    },

    /** @returns a function that ends the calls. */
    listen(listener: DecisionListener): () => void {
      // The same function may listen twice.
      const once: DecisionListener = (event) => listener(event);
      listeners.add(once);
      decisions.heard = heardBy();
      return () => {
        listeners.delete(once);
        decisions.heard = heardBy();
      };
    },
  };
  return decisions;
}
