/**
 * A single server has one group commit. A cluster has one group commit for each tag, so that a master
 * that is down delays the calls on its own tags only, and one for the decisions on rows of several tags.
 */
import { requestsOwnIo } from "../runtime/requests-own-io.js";
import { BatchReports } from "../store/group-commit/batch-reports.js";
import { createCommitPerTurn } from "../store/group-commit/commit-per-turn.js";
import { createGroupCommit } from "../store/group-commit/group-commit.js";
import { SpentRows } from "../store/group-commit/spent-rows.js";
import type { Call, Decision, RateLimitStore, Submission } from "../store/store.js";
import { createRedisAccess } from "./redis-access.js";
import type { RedisRows } from "./redis-rows.js";
import { createSpanningAccess } from "./spanning-access.js";
import type { Tags } from "./tags.js";

/** A single server, or the part of a cluster that has one tag. */
export interface Server {
  rows: RedisRows;
  /** Checks the server and learns its time. `undefined` if both are done already. */
  prepare(): Promise<void> | undefined;
}

export type Lanes = Pick<RateLimitStore, "apply" | "submit" | "onBatch" | "isSilentSince">;

export function createLane({ rows, prepare }: Server): Lanes {
  const createCommit = requestsOwnIo() ? createCommitPerTurn : createGroupCommit;
  return createCommit(createRedisAccess(rows, prepare, false));
}

/** @param openServer called once for each tag, when the tag is needed first. */
export function createLanes(tags: Tags, openServer: (place: number) => Server): Lanes {
  const shared = {
    spent: new SpentRows(),
    reports: new BatchReports(),
    endsTimers: requestsOwnIo(),
  };
  const servers: Server[] = [];
  const lanes: (RateLimitStore | undefined)[] = [];
  const serverAt = (place: number) => (servers[place] ??= openServer(place));

  function laneAt(place: number): RateLimitStore {
    const { rows, prepare } = serverAt(place);
    return createGroupCommit(createRedisAccess(rows, prepare, true), Math.random, shared);
  }

  function spanningLane(): RateLimitStore {
    const rowsAt = (place: number) => serverAt(place).rows;
    // Commands have a deadline by the clock of their server, so all clocks have to be known.
    const prepare = () => {
      const all = Array.from({ length: tags.count }, (_, place) => serverAt(place).prepare());
      const waiting = all.filter((each) => each !== undefined);
      return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => {});
    };
    return createGroupCommit(createSpanningAccess(tags, rowsAt, prepare), Math.random, shared);
  }

  function laneOf({ rows }: Decision<unknown>): RateLimitStore {
    const place = rows.length === 0 ? 0 : tags.placeOf(rows[0]!);
    for (let i = 1; i < rows.length; i++) {
      if (rows[i]!.key === rows[0]!.key || tags.placeOf(rows[i]!) === place) continue;
      return (lanes[tags.count] ??= spanningLane());
    }
    return (lanes[place] ??= laneAt(place));
  }

  return {
    submit: (submission: Submission<unknown>) => laneOf(submission.decision).submit!(submission),
    onBatch: shared.reports.subscribe,
    isSilentSince: (since) => lanes.some((lane) => lane?.isSilentSince?.(since)),
    async apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const apply = async (decision: Decision<TResult>) =>
        (await laneOf(decision).apply([decision], call))[0]!;
      return Promise.all(decisions.map(apply));
    },
  };
}
