/**
 * The plain path: one statement takes the tokens of many calls on many rows. It decides while it
 * holds the lock of each row, so it needs no guard and no retry.
 *
 * The calls of one row form a line that is taken whole or not at all. A line that was not taken
 * goes the general way: each of its calls runs its own `decide`, and some of them may still be
 * granted.
 */
import { waitFor } from "../../../core/calculate.js";
import { takeTokens } from "../../../core/decide.js";
import { type RowAccess, UnsentError } from "../row-access.js";
import { compareLockOrder, rowKey } from "../store.js";
import type { Batch, Job } from "./batch.js";
import { type BatchOutcome, failed, unsent } from "./commit-general.js";

/** Never rejects. */
export async function commitPlain(
  batch: Batch,
  access: RowAccess,
  mayWait: boolean,
): Promise<BatchOutcome> {
  const { now } = batch;
  const lines = [...batch.lines.values()];
  // Lock in the same order in every process, so that two statements cannot wait for each other.
  if (lines.length > 1) lines.sort((a, b) => compareLockOrder(a.row, b.row));
  let taken: Awaited<ReturnType<NonNullable<RowAccess["take"]>>>;
  try {
    taken = await access.take!(
      lines.map(({ row, terms, total }) => ({
        row,
        terms,
        total,
        fresh: takeTokens(null, terms.config, now, total, terms.floor)!,
      })),
      {
        now,
        mayWait,
        isWanted: () => !batch.jobs.some(({ expired }) => expired),
      },
    );
  } catch (error) {
    if (error instanceof UnsentError) return unsent(batch);
    return failed(batch, access, error, "decide");
  }
  const again: Job[] = [];
  const spent = new Map<string, number>();
  for (const { row, terms, jobs } of lines) {
    const { config, floor } = terms;
    const next = taken.get(rowKey(row));
    if (next === undefined) {
      again.push(...jobs);
      spent.set(rowKey(row), Infinity);
      continue;
    }
    // Assume that the next call wants as many tokens as the last one.
    const { count } = jobs.at(-1)!.decision.plain!;
    if (next.value - count >= floor) continue;
    spent.set(rowKey(row), now + waitFor(next, config, now, count, floor));
  }
  return {
    again,
    nextWay: "decide",
    conflicts: 0,
    failed: false,
    written: taken.keys(),
    spent,
    answer() {
      for (const { row, jobs, total } of lines) {
        const next = taken.get(rowKey(row));
        if (next === undefined) continue;
        let sum = 0;
        for (const job of jobs) {
          const plain = job.decision.plain!;
          sum += plain.count;
          job.resolve(plain.granted(next, total - sum, now));
        }
      }
    },
  };
}
