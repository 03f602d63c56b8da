/** The decisions that the tests of stores apply. */
import type { RateLimitState } from "../../core/calculate.js";
import type { Decision, RateLimitStore, RowId } from "../../server/store/store.js";

export const row = (key: string, shard = 0): RowId => ({ name: "contract", key, shard });

/** Takes 1 if the row holds at least 1. A missing row holds `full`. The result is whether it took. */
export function take(id: RowId, full: number): Decision<boolean> {
  return {
    rows: [id],
    decide([state]) {
      const value = state?.value ?? full;
      if (value < 1) return { result: false };
      return { result: true, writes: [{ value: value - 1, ts: (state?.ts ?? 0) + 1 }] };
    },
  };
}

export function write(id: RowId, state: RateLimitState | null): Decision<void> {
  return { rows: [id], decide: () => ({ result: undefined, writes: [state] }) };
}

export async function read(
  store: Pick<RateLimitStore, "apply">,
  id: RowId,
): Promise<RateLimitState | null> {
  const [state] = await store.apply([
    { rows: [id], decide: ([found]) => ({ result: found ?? null }) },
  ]);
  return state!;
}

export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

export const granted = (results: readonly boolean[][]): number =>
  results.flat().filter(Boolean).length;

/** The reason of a promise that has to reject. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "the promise was not rejected",
    (reason: unknown) => reason,
  );
}

export function nameOf(error: unknown): unknown {
  return (Object(error) as { name?: unknown }).name;
}
