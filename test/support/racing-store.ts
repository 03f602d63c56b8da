/**
 * A store on which other calls can come between the read and the write of a decision. As in a store on a
 * database, only the rows that the decision writes or guards are checked.
 */
import type { Row } from "../../core/rows/row.js";
import type { Decision, RateLimitStore } from "../../server/index.js";

type States = readonly (Row | null)[];

export interface Race {
  /** Runs once: after the next decision has read its rows, and before it writes them. */
  meanwhile?: (() => Promise<unknown>) | undefined;
}

/** @param rows the store that holds the rows. Other limiters may use it, too. */
export function racingStore(rows: RateLimitStore): { store: RateLimitStore; race: Race } {
  const race: Race = {};

  async function applyOne<TResult>(decision: Decision<TResult>): Promise<TResult> {
    const { rows: ids } = decision;
    for (;;) {
      const read: Decision<States> = {
        rows: ids,
        readOnly: true,
        decide: (states) => ({ result: states }),
      };
      const [was] = (await rows.apply([read])) as [States];
      const { result, writes } = decision.decide(was);
      const { meanwhile } = race;
      race.meanwhile = undefined;
      await meanwhile?.();
      if (writes === undefined) return result;
      const write: Decision<boolean> = {
        rows: ids,
        decide(states) {
          const isSame = writes.every((next, i) => next === undefined || same(was[i], states[i]));
          return { result: isSame, writes: isSame ? writes : undefined };
        },
      };
      if ((await rows.apply([write]))[0]) return result;
    }
  }

  return { store: { apply: (decisions) => Promise.all(decisions.map(applyOne)) }, race };
}

function same(a: Row | null | undefined, b: Row | null | undefined): boolean {
  return a?.used === b?.used && a?.ts === b?.ts;
}
