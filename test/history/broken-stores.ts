/**
 * Stores with planted faults, each over rows in the memory of this process. They yield wherever a
 * database would be asked, so that calls come in between, and always in the same way.
 */
import type { RateLimitState } from "../../core/index.js";
import {
  type Decision,
  memoryStore,
  type Outcome,
  type RateLimitStore,
  type RowId,
} from "../../server/index.js";

type States = (RateLimitState | null)[];
type Settle = <TResult>(decision: Decision<TResult>) => Promise<TResult>;

/** Reads, decides, and writes what it decided, whatever the rows are by then. */
export function unguardedStore(): RateLimitStore {
  const rows = rowsInMemory();
  const trip = unevenTrips();
  return storeOf(async (decision) => {
    const states = rows.read(decision.rows);
    await trip();
    return rows.write(decision, decision.decide(states));
  });
}

/** Writes what it decided on the true state, but denies on states that it remembers. */
export function staleStore(): RateLimitStore {
  const rows = rowsInMemory();
  const trip = unevenTrips();
  const remembered = new Map<string, RateLimitState | null>();
  let calls = 0;
  return storeOf(async (decision) => {
    await trip();
    const states = rows.read(decision.rows);
    const guesses = decision.rows.map(({ key }, i) => remembered.get(key) ?? states[i]!);
    if (calls++ % 8 === 0)
      for (const [i, { key }] of decision.rows.entries()) remembered.set(key, states[i]!);
    const guessed = decision.decide(guesses);
    if (guessed.writes === undefined) return guessed.result;
    return rows.write(decision, decision.decide(states));
  });
}

/** Now and then loses the answer to a write that took place, and simply writes again. */
export function doublingStore(): RateLimitStore {
  const rows = rowsInMemory();
  const trip = unevenTrips();
  let writes = 0;
  return storeOf(async (decision) => {
    await trip();
    const once = () => rows.write(decision, decision.decide(rows.read(decision.rows)));
    const result = once();
    if (++writes % 10 !== 0) return result;
    await trip();
    return once();
  });
}

/** Now and then loses a write that it has confirmed. */
export function forgetfulStore(): RateLimitStore {
  const rows = rowsInMemory();
  const trip = unevenTrips();
  let writes = 0;
  return storeOf(async (decision) => {
    await trip();
    const outcome = decision.decide(rows.read(decision.rows));
    return ++writes % 10 === 0 ? outcome.result : rows.write(decision, outcome);
  });
}

/** Writes the rows of one decision one by one. */
export function tornStore(): RateLimitStore {
  const rows = rowsInMemory();
  const trip = unevenTrips();
  return storeOf(async (decision) => {
    await trip();
    const { result, writes = [] } = decision.decide(rows.read(decision.rows));
    for (const [i, row] of decision.rows.entries()) {
      if (i > 0) await trip();
      rows.write({ rows: [row] }, { result, writes: [writes[i]] });
    }
    return result;
  });
}

/** The control: nothing is broken, though answers take their time. */
export function soundStore(): RateLimitStore {
  const store = memoryStore();
  const trip = unevenTrips();
  return storeOf(async (decision) => {
    await trip();
    const [result] = await store.apply([decision]);
    await trip();
    return result!;
  });
}

/** A few ticks, never the same number twice in a row, so that calls overtake each other. */
function unevenTrips(): () => Promise<void> {
  let trips = 0;
  return async () => {
    for (let left = trips++ % 3; left >= 0; left--) await Promise.resolve();
  };
}

function rowsInMemory() {
  const states = new Map<string, RateLimitState | null>();
  return {
    read: (rows: readonly RowId[]): States => rows.map(({ key }) => states.get(key) ?? null),
    write<TResult>(
      { rows }: Pick<Decision<TResult>, "rows">,
      { result, writes = [] }: Outcome<TResult>,
    ): TResult {
      for (const [i, { key }] of rows.entries()) {
        if (writes[i] !== undefined) states.set(key, writes[i]!);
      }
      return result;
    },
  };
}

function storeOf(settle: Settle): RateLimitStore {
  return { apply: (decisions) => Promise.all(decisions.map(settle)) };
}
