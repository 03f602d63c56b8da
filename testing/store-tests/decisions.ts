/** The decisions that the tests of stores apply. */
import type { Row } from "../../core/rows/row.js";
import type { Decision, RateLimitStore, RowId } from "../../server/store/store.js";

export const row = (key: string, shard = 0): RowId => ({ name: "contract", key, shard });

/**
 * Takes 1 of a row of `full` tokens, if a token is left. Of a missing row, nothing is used. The result is
 * whether the decision took a token.
 */
export function take(id: RowId, full: number): Decision<boolean> {
  return {
    rows: [id],
    decide([state]) {
      const used = (state?.used ?? 0) + 1;
      if (used > full) return { result: false };
      return { result: true, writes: [{ used, ts: (state?.ts ?? 0) + 1 }] };
    },
  };
}

export function write(id: RowId, state: Row | null): Decision<void> {
  return { rows: [id], decide: () => ({ result: undefined, writes: [state] }) };
}

export async function read(store: Pick<RateLimitStore, "apply">, id: RowId): Promise<Row | null> {
  const [state] = await store.apply([
    { rows: [id], decide: ([found]) => ({ result: found ?? null }) },
  ]);
  return state!;
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

export const granted = (results: readonly boolean[][]): number =>
  results.flat().filter(Boolean).length;

/** The reason with which a promise rejects. The promise must reject. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "the promise was not rejected",
    (reason: unknown) => reason,
  );
}

export function nameOf(error: unknown): unknown {
  return (Object(error) as { name?: unknown }).name;
}
