/**
 * Decisions on rows of several tags, in a cluster. No script reaches them all. So their rows are
 * held, decided on, and written tag by tag, and other processes wait meanwhile.
 *
 * A process that is killed between two writes leaves some rows written. The limiter writes several
 * rows to charge all of them, or to give back to all of them. Half of either is stricter, never laxer.
 */
import type { RateLimitState } from "../../core/calculate.js";
import type { Write, WriteGroup } from "../store/plan-writes.js";
import { type RowAccess, UnsentError, type WriteOutcomes } from "../store/row-access.js";
import { rowKey, type RowId } from "../store/store.js";
import { askAgain } from "./ask-again.js";
import { randomText } from "./marks.js";
import { RedisConflictError, redisError, RedisStoreError } from "./redis-errors.js";
import { HOLD, NOT_HELD, type RedisRows } from "./redis-rows.js";
import type { Tags } from "./tags.js";

type States = Map<string, RateLimitState>;

/** @param rowsOf by the place of the tag. */
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

  /** Holds the rows of all tags or of none. */
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

  /** Read twice: between two equal answers of all tags there was one instant at which they were so. */
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
    const parts = new Map<WriteGroup, { place: number; part: WriteGroup }[]>();
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
        for (const each of await rowsOf(place).write(own, undefined, holder)) written.set(...each);
      }),
    );
    for (const [group, own] of parts) {
      const outcome = await settle(own, written);
      if (outcome !== undefined) outcomes.set(group, outcome);
    }
    return outcomes;
  }

  /** The outcome of a group by those of its parts. */
  async function settle(
    parts: readonly { place: number; part: WriteGroup }[],
    written: WriteOutcomes,
  ): Promise<"written" | { error: unknown } | undefined> {
    const done = parts.filter(({ part }) => written.get(part) === "written");
    if (done.length === parts.length) return "written";
    for (const { part } of parts) {
      const outcome = written.get(part);
      if (typeof outcome === "object") return outcome;
    }
    // The time of the hold was over, and another process has changed one of the rows.
    const undone = await Promise.all(
      done.map(async ({ place, part }) => {
        const back = { writes: part.writes.map(reversed), decisions: [] };
        const outcomes = await rowsOf(place).write([back], undefined, NOT_HELD);
        return outcomes.get(back) === "written";
      }),
    );
    return undone.every(Boolean) ? undefined : { error: new RedisStoreError(HALF) };
  }

  const locked: RowAccess["locked"] = async (run) => {
    const holder = randomText();
    let held = new Map<string, RowId>();
    let heldAt = 0;
    try {
      return await run({
        async read(rows) {
          const states = await askAgain(() => {
            heldAt = performance.now();
            return holdAll(rows, holder);
          });
          held = new Map(rows.map((row) => [rowKey(row), row]));
          return states;
        },
        async write(groups, isWanted) {
          if (performance.now() - heldAt > HOLD / 2) return new Map();
          const outcomes = await writeAll(groups, isWanted, holder);
          for (const [{ writes }, outcome] of outcomes) {
            if (outcome === "written") for (const { row } of writes) held.delete(rowKey(row));
          }
          return outcomes;
        },
      });
    } finally {
      release([...held.values()], holder);
    }
  };

  return {
    prepare,
    locked,
    read: readAll,
    write: (groups, isWanted) => writeAll(groups, isWanted, NOT_HELD),
    take: () => Promise.resolve(new Map()),
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

const reversed = ({ row, was, next, also }: Write): Write => ({ row, was: next, next: was, also });

function merge(all: readonly States[]): States {
  return new Map(all.flatMap((states) => [...states]));
}

function isSame(one: States, other: States): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([id, { value, ts }]) => {
    const found = other.get(id);
    return found?.value === value && found.ts === ts;
  });
}
