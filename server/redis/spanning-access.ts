/**
 * Decisions on rows of several tags, in a cluster. No script reaches rows of several tags. The rows are
 * therefore held, decided on, and written tag by tag, and other processes wait meanwhile. Written rows
 * stay held until all rows are written. The writes can thus be undone if a later part is refused because
 * it comes too late.
 *
 * A process that is killed between two writes, or stands still for longer than the hold, leaves some rows
 * written. The limiter writes several rows to charge all these rows, or to give tokens back to all these
 * rows. Half of such a write makes limits stricter, never laxer.
 */
import type { Row } from "../../core/rows/row.js";
import type { WriteGroup } from "../store/plan-writes.js";
import type { RowAccess, RowStatements, WriteOutcomes } from "../store/row-access.js";
import type { RowId } from "../store/store.js";
import { askAgain } from "./ask-again.js";
import { randomText } from "./marks.js";
import { RedisConflictError, redisError } from "./redis-errors.js";
import { HOLD, NOT_HELD, type RedisRows } from "./redis-rows.js";
import { LIFE } from "./run-script.js";
import { byTag, type Places, writeAll } from "./spanning-writes.js";
import type { Tags } from "./tags.js";

/** How often a hold is renewed while the parts of a write are under way, ms. */
const RENEW = HOLD / 3;

type States = Map<string, Row>;

/** @param rowsOf the rows of a tag, by the place of the tag. The same object each time. */
export function createSpanningAccess(
  tags: Tags,
  rowsOf: (place: number) => RedisRows,
  prepare: () => Promise<void> | undefined,
): RowAccess {
  const places = { tags, rowsOf };
  return {
    prepare,
    async locked(run) {
      const hold = new SpanningHold(places);
      try {
        return await run(hold);
      } finally {
        // No call waits for the release.
        hold.release();
      }
    },
    read: (rows) => readAll(places, rows),
    write: (groups, isWanted) => writeAll(places, groups, isWanted, NOT_HELD),
    mixesTerms: true,
    // Every decision holds its rows from the start.
    serializable: true,
    isConflict: (error) => error instanceof RedisConflictError,
    wrap: redisError,
    maxInFlight: 1,
    probe: () => rowsOf(0).runner.send(["PING"]),
  };
}

/** The rows of one decision, held from the read until the release. */
class SpanningHold implements RowStatements {
  #holder = NOT_HELD;
  #rows: readonly RowId[] = [];
  #heldAt = 0;

  constructor(private readonly places: Places) {}

  async read(rows: readonly RowId[]): Promise<States> {
    const states = await askAgain(() => {
      // Each try has a holder of its own, so that a late release of the former try cannot free the rows.
      this.#holder = randomText();
      this.#heldAt = performance.now();
      return holdAll(this.places, rows, this.#holder);
    });
    this.#rows = rows;
    return states;
  }

  async write(
    groups: readonly WriteGroup[],
    isWanted?: (group: WriteGroup) => boolean,
  ): Promise<WriteOutcomes> {
    if (performance.now() - this.#heldAt > HOLD / 2) return new Map();
    const stop = keepHolding(this.places, this.#rows, this.#holder);
    try {
      return await writeAll(this.places, groups, isWanted, this.#holder);
    } finally {
      stop();
    }
  }

  release(): void {
    for (const [tag, own] of byTag(this.places, this.#rows, ofRow)) tag.release(own, this.#holder);
  }
}

/** Holds the rows of all tags, or no rows. */
async function holdAll(places: Places, rows: readonly RowId[], holder: string): Promise<States> {
  const tags = byTag(places, rows, ofRow);
  const tries = await Promise.allSettled(tags.map(([tag, own]) => tag.hold(own, holder)));
  const failed = tries.filter((each) => each.status === "rejected");
  if (failed.length === 0) {
    return merge(tries.map((each) => (each as PromiseFulfilledResult<States>).value));
  }
  for (const [i, [tag, own]] of tags.entries()) {
    const { reason } = tries[i] as { reason?: unknown };
    if (!(reason instanceof RedisConflictError)) tag.release(own, holder);
  }
  const other = failed.find(({ reason }) => !(reason instanceof RedisConflictError));
  throw (other ?? failed[0]!).reason;
}

/**
 * Holds rows for as long as their writes are under way. Stops when no command can still be carried out
 * (`LIFE`). Otherwise, a master that is down would block the rows of all other masters.
 *
 * @returns a function that stops the renewal.
 */
function keepHolding(places: Places, rows: readonly RowId[], holder: string): () => void {
  const tags = byTag(places, rows, ofRow);
  const until = performance.now() + LIFE;
  const timer = setInterval(() => {
    if (performance.now() > until) clearInterval(timer);
    for (const [tag, own] of tags) {
      // Ignore a hold that is lost: the writes notice the loss.
      tag.hold(own, holder).catch(() => {});
    }
  }, RENEW);
  return () => clearInterval(timer);
}

/**
 * Reads all tags twice. If both answers are equal, all rows had these states at an instant between the
 * two reads.
 */
async function readAll(places: Places, rows: readonly RowId[]): Promise<States> {
  const tags = byTag(places, rows, ofRow);
  const readOnce = async () => {
    const found = await Promise.all(tags.map(([tag, own]) => tag.read(own)));
    if (found.some(({ isHeld }) => isHeld)) throw new RedisConflictError();
    return merge(found.map(({ states }) => states));
  };
  return askAgain(async () => {
    const first = await readOnce();
    if (tags.length === 1 || isSame(first, await readOnce())) return first;
    throw new RedisConflictError();
  });
}

const ofRow = (row: RowId) => row;

function merge(all: readonly States[]): States {
  return new Map(all.flatMap((states) => [...states]));
}

function isSame(one: States, other: States): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([id, { used, ts }]) => {
    const found = other.get(id);
    return found?.used === used && found.ts === ts;
  });
}
