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
import type { Write, WriteGroup } from "../store/plan-writes.js";
import { type RowAccess, UnsentError, type WriteOutcomes } from "../store/row-access.js";
import type { RowId } from "../store/store.js";
import { askAgain } from "./ask-again.js";
import { randomText } from "./marks.js";
import { RedisConflictError, redisError, RedisLateError, RedisStoreError } from "./redis-errors.js";
import { HOLD, NOT_HELD, type RedisRows } from "./redis-rows.js";
import { LIFE } from "./run-script.js";
import type { Tags } from "./tags.js";

/** How often a hold is renewed while the parts of a write are under way, ms. */
const RENEW = HOLD / 3;

type States = Map<string, Row>;

/** The writes of a group to the rows of one tag. */
interface Part {
  place: number;
  part: WriteGroup;
}

/** @param rowsOf the rows of a tag, by the place of the tag. */
export function createSpanningAccess(
  tags: Tags,
  rowsOf: (place: number) => RedisRows,
  prepare: () => Promise<void> | undefined,
): RowAccess {
  function byPlace<TItem>(items: readonly TItem[], rowOf: (item: TItem) => RowId) {
    const places = new Map<number, TItem[]>();
    for (const item of items) {
      const place = tags.placeOf(rowOf(item));
      const others = places.get(place);
      if (others === undefined) places.set(place, [item]);
      else others.push(item);
    }
    return [...places];
  }
  const ofRow = (row: RowId) => row;

  function release(rows: readonly RowId[], holder: string): void {
    for (const [place, own] of byPlace(rows, ofRow)) rowsOf(place).release(own, holder);
  }

  /** Holds the rows of all tags, or no rows. */
  async function holdAll(rows: readonly RowId[], holder: string): Promise<States> {
    const places = byPlace(rows, ofRow);
    const tries = await Promise.allSettled(
      places.map(([place, own]) => rowsOf(place).hold(own, holder)),
    );
    const failed = tries.filter((each) => each.status === "rejected");
    if (failed.length === 0) {
      return merge(tries.map((each) => (each as PromiseFulfilledResult<States>).value));
    }
    for (const [i, [place, own]] of places.entries()) {
      const { reason } = tries[i] as { reason?: unknown };
      if (!(reason instanceof RedisConflictError)) rowsOf(place).release(own, holder);
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
  function keepHolding(rows: readonly RowId[], holder: string): () => void {
    const places = byPlace(rows, ofRow);
    const until = performance.now() + LIFE;
    const timer = setInterval(() => {
      if (performance.now() > until) clearInterval(timer);
      for (const [place, own] of places) {
        // Ignore a hold that is lost: the writes notice the loss.
        rowsOf(place).hold(own, holder).catch(ignore);
      }
    }, RENEW);
    return () => clearInterval(timer);
  }

  /**
   * Reads all tags twice. If both answers are equal, all rows had these states at an instant between the
   * two reads.
   */
  async function readAll(rows: readonly RowId[]): Promise<States> {
    const places = byPlace(rows, ofRow);
    const readOnce = async () => {
      const found = await Promise.all(places.map(([place, own]) => rowsOf(place).read(own)));
      if (found.some(({ isHeld }) => isHeld)) throw new RedisConflictError();
      return merge(found.map(({ states }) => states));
    };
    return askAgain(async () => {
      const first = await readOnce();
      if (places.length === 1 || isSame(first, await readOnce())) return first;
      throw new RedisConflictError();
    });
  }

  async function writeAll(
    groups: readonly WriteGroup[],
    isWanted: ((group: WriteGroup) => boolean) | undefined,
    holder: string,
  ): Promise<WriteOutcomes> {
    const outcomes: WriteOutcomes = new Map();
    const parts = new Map<WriteGroup, Part[]>();
    for (const group of groups) {
      if (isWanted !== undefined && !isWanted(group)) {
        outcomes.set(group, { error: new UnsentError() });
        continue;
      }
      const split = byPlace(group.writes, ({ row }) => row);
      const of = split.map(([place, writes]) => ({ place, part: { writes, decisions: [] } }));
      parts.set(group, of);
    }
    const all = [...parts.values()].flat();
    const written: WriteOutcomes = new Map();
    await Promise.all(
      [...new Set(all.map(({ place }) => place))].map(async (place) => {
        const own = all.filter((each) => each.place === place).map(({ part }) => part);
        const keeps = holder !== NOT_HELD;
        const found = await rowsOf(place).write(own, undefined, holder, keeps);
        for (const each of found) written.set(...each);
      }),
    );
    for (const [group, own] of parts) {
      const outcome = await settle(own, written, holder);
      if (outcome !== undefined) outcomes.set(group, outcome);
    }
    return outcomes;
  }

  /** The outcome of a group, by the outcomes of its parts. */
  async function settle(
    parts: readonly Part[],
    written: WriteOutcomes,
    holder: string,
  ): Promise<"written" | { error: unknown } | undefined> {
    const done = parts.filter(({ part }) => written.get(part) === "written");
    if (done.length === parts.length) return "written";
    let late: { error: unknown } | undefined;
    for (const { part } of parts) {
      const outcome = written.get(part);
      if (typeof outcome !== "object") continue;
      if (!(outcome.error instanceof RedisLateError)) return outcome;
      late = outcome;
    }
    // A part was not written: the hold was over, and another process has changed a row of that part. Undo
    // the other parts.
    const undone = await Promise.all(done.map((each) => undo(each, holder)));
    return undone.every(Boolean) ? late : { error: new RedisStoreError(HALF) };
  }

  async function undo({ place, part }: Part, holder: string): Promise<boolean> {
    const back = { writes: part.writes.map(reversed), decisions: [] };
    const isUndone = async (by: string) => {
      const outcomes = await rowsOf(place).write([back], undefined, by, by !== NOT_HELD);
      return outcomes.get(back) === "written";
    };
    // If this process stood still and lost its hold, the rows may be unchanged, but no longer held.
    return (await isUndone(holder)) || (holder !== NOT_HELD && isUndone(NOT_HELD));
  }

  const locked: RowAccess["locked"] = async (run) => {
    let holder = NOT_HELD;
    let held: readonly RowId[] = [];
    let heldAt = 0;
    try {
      return await run({
        async read(rows) {
          const states = await askAgain(() => {
            // Each try has a holder of its own, so that a late release of the former try cannot free the
            // rows.
            holder = randomText();
            heldAt = performance.now();
            return holdAll(rows, holder);
          });
          held = rows;
          return states;
        },
        async write(groups, isWanted) {
          if (performance.now() - heldAt > HOLD / 2) return new Map();
          const stop = keepHolding(held, holder);
          try {
            return await writeAll(groups, isWanted, holder);
          } finally {
            stop();
          }
        },
      });
    } finally {
      // No call waits for the release.
      release(held, holder);
    }
  };

  return {
    prepare,
    locked,
    read: readAll,
    write: (groups, isWanted) => writeAll(groups, isWanted, NOT_HELD),
    mixesTerms: true,
    // Every decision holds its rows from the start.
    serializable: true,
    isConflict: (error) => error instanceof RedisConflictError,
    wrap: redisError,
    maxInFlight: 1,
    probe: () => rowsOf(0).runner.send(["PING"]),
  };
}

const HALF =
  "another process changed rows in the middle of a write of several; some of them are written";

const ignore = () => {};

const reversed = ({ row, was, next, also }: Write): Write => ({ row, was: next, next: was, also });

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
