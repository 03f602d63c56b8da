/**
 * Group commit where each request owns its I/O. The calls of one turn of the event loop are of one
 * request, so they share batches: the calls of a tRPC batch, for example. No call waits for the batch
 * of another turn. The turns share only what needs no waiting: the list of empty rows, and the
 * listeners.
 */
import type { RowAccess } from "../row-access.js";
import type { RateLimitStore } from "../store.js";
import { BatchReports } from "./batch-reports.js";
import { createGroupCommit } from "./group-commit.js";
import { SpentRows } from "./spent-rows.js";

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createCommitPerTurn(
  access: RowAccess,
  random: () => number = Math.random,
): RateLimitStore {
  const shared = { spent: new SpentRows(), reports: new BatchReports(), endsTimers: true };
  // A turn has no use for a probe: other statements of the turn may be what keeps the connection busy.
  const turnAccess: RowAccess = Object.create(access, { probe: { value: undefined } });
  let turn: RateLimitStore | undefined;

  function current(): RateLimitStore {
    if (turn === undefined) {
      turn = createGroupCommit(turnAccess, random, shared);
      // The platform runs all microtasks of a request before it goes on with another request.
      queueMicrotask(() => (turn = undefined));
    }
    return turn;
  }

  return {
    submit: (submission) => current().submit!(submission),
    apply: (decisions, call) => current().apply(decisions, call),
    onBatch: shared.reports.subscribe,
  };
}
