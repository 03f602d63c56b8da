/** Writes groups of rows of several tags, tag by tag. Parts that are written alone are undone. */
import type { Write, WriteGroup } from "../store/plan-writes.js";
import { UnsentError, type WriteOutcomes } from "../store/row-access.js";
import type { RowId } from "../store/store.js";
import { RedisLateError, RedisStoreError } from "./redis-errors.js";
import { NOT_HELD, type RedisRows } from "./redis-rows.js";
import type { Tags } from "./tags.js";

export interface Places {
  readonly tags: Tags;
  /** The rows of a tag, by the place of the tag. The same object each time. */
  rowsOf(place: number): RedisRows;
}

/** The writes of a group to the rows of one tag. */
interface Part {
  tag: RedisRows;
  part: WriteGroup;
}

const HALF =
  "another process changed rows in the middle of a write of several; some of them are written";

/** The items of each tag, with the rows of the tag. */
export function byTag<TItem>(
  { tags, rowsOf }: Places,
  items: readonly TItem[],
  rowOf: (item: TItem) => RowId,
): [tag: RedisRows, own: TItem[]][] {
  const found = new Map<RedisRows, TItem[]>();
  for (const item of items) {
    const tag = rowsOf(tags.placeOf(rowOf(item)));
    const others = found.get(tag);
    if (others === undefined) found.set(tag, [item]);
    else others.push(item);
  }
  return [...found];
}

/** @param holder the holder of the rows, or `NOT_HELD`. */
export async function writeAll(
  places: Places,
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
    const split = byTag(places, group.writes, ({ row }) => row);
    const own = split.map(([tag, writes]) => ({ tag, part: { writes, decisions: [] } }));
    parts.set(group, own);
  }
  const written = await writeParts([...parts.values()].flat(), holder);
  for (const [group, own] of parts) {
    const outcome = await settle(own, written, holder);
    if (outcome !== undefined) outcomes.set(group, outcome);
  }
  return outcomes;
}

/** One command for each tag. */
async function writeParts(parts: readonly Part[], holder: string): Promise<WriteOutcomes> {
  const written: WriteOutcomes = new Map();
  await Promise.all(
    [...new Set(parts.map(({ tag }) => tag))].map(async (tag) => {
      const own = parts.filter((each) => each.tag === tag).map(({ part }) => part);
      const found = await tag.write(own, undefined, holder, holder !== NOT_HELD);
      for (const each of found) written.set(...each);
    }),
  );
  return written;
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

async function undo({ tag, part }: Part, holder: string): Promise<boolean> {
  const back = { writes: part.writes.map(reversed), decisions: [] };
  const isUndone = async (by: string) => {
    const outcomes = await tag.write([back], undefined, by, by !== NOT_HELD);
    return outcomes.get(back) === "written";
  };
  // If this process stood still and lost its hold, the rows may be unchanged, but no longer held.
  return (await isUndone(holder)) || (holder !== NOT_HELD && isUndone(NOT_HELD));
}

const reversed = ({ row, was, next, also }: Write): Write => ({ row, was: next, next: was, also });
