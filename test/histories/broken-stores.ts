/**
 * Stores with deliberate faults, on rows in memory. The stores yield where a real store would wait for
 * the database, so that calls interleave. The order of the calls is the same in every run.
 */
import type { Row } from "../../core/rows/row.js";
import {
  type Decision,
  memoryStore,
  type Outcome,
  type RateLimitStore,
  type RowId,
} from "../../server/index.js";

type States = (Row | null)[];
type ApplyOne = <TResult>(decision: Decision<TResult>) => Promise<TResult>;

/** Reads, decides and writes, without checking whether the rows have changed meanwhile. */
export function unguardedStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  return storeOf(async (decision) => {
    const states = rows.read(decision.rows);
    await delay();
    return rows.write(decision, decision.decide(states));
  });
}

/** Grants on the current state, but denies on a cached state. */
export function staleStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  const cached = new Map<string, Row | null>();
  let calls = 0;
  return storeOf(async (decision) => {
    await delay();
    const states = rows.read(decision.rows);
    const cachedStates = decision.rows.map(({ key }, i) => cached.get(key) ?? states[i]!);
    if (calls++ % 8 === 0)
      for (const [i, { key }] of decision.rows.entries()) cached.set(key, states[i]!);
    const cachedOutcome = decision.decide(cachedStates);
    if (cachedOutcome.writes === undefined) return cachedOutcome.result;
    return rows.write(decision, decision.decide(states));
  });
}

/** Treats every tenth write as failed although it succeeded, and applies it again. */
export function duplicatingStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  let writes = 0;
  return storeOf(async (decision) => {
    await delay();
    const applyOnce = () => rows.write(decision, decision.decide(rows.read(decision.rows)));
    const result = applyOnce();
    if (++writes % 10 !== 0) return result;
    await delay();
    return applyOnce();
  });
}

/** Confirms every tenth write without writing it. */
export function lossyStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  let writes = 0;
  return storeOf(async (decision) => {
    await delay();
    const outcome = decision.decide(rows.read(decision.rows));
    return ++writes % 10 === 0 ? outcome.result : rows.write(decision, outcome);
  });
}

/** Writes the rows of one decision one by one, so that other calls see half of a decision. */
export function tornStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  return storeOf(async (decision) => {
    await delay();
    const { result, writes = [] } = decision.decide(rows.read(decision.rows));
    for (const [i, row] of decision.rows.entries()) {
      if (i > 0) await delay();
      rows.write({ rows: [row] }, { result, writes: [writes[i]] });
    }
    return result;
  });
}

/** Guards the rows that a decision changes, but not the rows that it gives back unchanged. */
export function skewedStore(): RateLimitStore {
  const rows = rowsInMemory();
  const delay = unevenDelays();
  return storeOf(async (decision) => {
    while (true) {
      const states = rows.read(decision.rows);
      await delay();
      const outcome = decision.decide(states);
      const now = rows.read(decision.rows);
      const { writes = [] } = outcome;
      const isChange = (i: number) => writes[i] !== undefined && writes[i] !== states[i];
      if (now.some((state, i) => isChange(i) && state !== states[i])) continue;
      return rows.write(decision, outcome);
    }
  });
}

/** The control: a correct store whose answers are delayed. */
export function correctStore(): RateLimitStore {
  const store = memoryStore();
  const delay = unevenDelays();
  return storeOf(async (decision) => {
    await delay();
    const [result] = await store.apply([decision]);
    await delay();
    return result!;
  });
}

/** Waits for 1, 2 or 3 ticks in turn, so that later calls can overtake earlier ones. */
function unevenDelays(): () => Promise<void> {
  let delays = 0;
  return async () => {
    for (let ticks = delays++ % 3; ticks >= 0; ticks--) await Promise.resolve();
  };
}

function rowsInMemory() {
  const states = new Map<string, Row | null>();
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

function storeOf(applyOne: ApplyOne): RateLimitStore {
  return { apply: (decisions) => Promise.all(decisions.map(applyOne)) };
}
