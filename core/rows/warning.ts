/**
 * Warnings: that a key has used so much of a limit (`warnAt`). The decision that uses it writes two kinds
 * of rows, so a level is crossed exactly once, whatever happens to the process afterwards.
 *
 * The first row is one for each key, and remembers the highest level that was crossed. A lower level was
 * crossed before it, or with it:
 *
 * - `used`: the level, in thousandths.
 * - `ts`: when it was crossed. A fixed window that started later has crossed no level yet.
 *
 * The other rows are one for each level that was crossed, and say that a listener has still to be told.
 * The listener's process deletes such a row:
 *
 * - `used`: the tokens that were used then.
 * - `ts`: when the warning is to be told; later while a process is telling it.
 *
 * The shard of such a row is the level, in thousandths. Its key has three parts behind the key of the
 * bucket: when the call began, random characters, and the capacity. The first two are the id of all
 * warnings of one call.
 */
import { type Bucket, capacityOf, longestPeriod, toleranceOf } from "../config.js";
import { DAY } from "../durations.js";
import { isFarBelow, isReached } from "../levels.js";
import { isClosed } from "./bucket.js";
import { bucketKeyOf, markerKey } from "./marker.js";
import { usedAt } from "./reading.js";
import type { Row } from "./row.js";
import { fullAfter, RESERVED_PREFIX, type SideRows } from "./side-rows.js";

const optionOf: SideRows["optionOf"] = (config) =>
  config.kind !== "concurrency" && config.warnAt ? "warnAt" : undefined;

/** The rows that remember which level was crossed. */
export const CROSSED: SideRows = {
  prefix: `${RESERVED_PREFIX}crossed:`,
  configOf: (config) =>
    config.kind === "concurrency" || !config.warnAt
      ? undefined
      : fullAfter(Math.max(KEEP, longestPeriod(config))),
  optionOf,
};

/** The rows of warnings that were not told yet. */
export const WARNINGS: SideRows = {
  prefix: `${RESERVED_PREFIX}warning:`,
  configOf: (config) =>
    config.kind === "concurrency" || !config.warnAt ? undefined : fullAfter(KEEP),
  optionOf,
  keyStart: (storedKey) => markerKey(storedKey),
};

/**
 * How long the rows are kept, ms. A warning that nobody has listened to for so long is dropped. A bucket
 * that stays above half of a level for so long is told of that level again.
 */
const KEEP = 30 * DAY;

/** The level as a whole number: the shard of its warnings. */
export function codeOf(level: number): number {
  return Math.round(level * 1000);
}

/** What a decision crosses. */
export interface Crossing {
  /** The levels, rising. */
  readonly levels: readonly number[];
  /** Tokens used after the decision, a debt included. */
  readonly used: number;
  /** The row that remembers the highest level; `null` for no level. */
  readonly crossed: Row | null;
}

/**
 * The levels that a change of a bucket crosses. `undefined` where it crosses none, and no level can be
 * crossed again since.
 *
 * @param before the bucket before the change.
 * @param after the bucket after the change.
 * @param crossed the row that remembers the highest level that was crossed before.
 */
export function crossingOf(
  config: Bucket,
  before: Row | null,
  after: Row,
  crossed: Row | null,
  now: number,
): Crossing | undefined {
  const { warnAt = [] } = config;
  if (isClosed(after, now)) return undefined;
  const was = usedAt(before, config, now).used;
  const { used, ts } = usedAt(after, config, now);
  if (used <= was) return undefined;
  const known = warnAt.filter((level) => {
    if (crossed === null || codeOf(level) > crossed.used) return false;
    // The window tells whether a level was crossed in it. A bucket has no windows.
    return config.kind === "fixed window" ? crossed.ts >= ts : !isFarBelow(config, level, was);
  });
  const highest = known.at(-1) ?? 0;
  const levels = warnAt.filter((level) => level > highest && isReached(config, level, used));
  const last = levels.at(-1);
  if (last !== undefined) {
    return { levels, used, crossed: { used: codeOf(last), ts: Math.max(now, ts) } };
  }
  if (crossed === null || config.kind === "fixed window") return undefined;
  const isAgain = warnAt.some((level) => {
    const isForgotten = level > highest && codeOf(level) <= crossed.used;
    // Where the use is far below the level still, a later change will see it.
    return isForgotten && !isFarBelow(config, level, used);
  });
  if (!isAgain) return undefined;
  return { levels, used, crossed: highest ? { used: codeOf(highest), ts: crossed.ts } : null };
}

/**
 * The numbers of used tokens at which a change of a bucket needs the rows of warnings, rising: the levels,
 * and of a token bucket their halves, where a level that was crossed is forgotten. A change from one such
 * number to the next, within one window, needs no row but its own.
 */
export function marksOf(config: Bucket): readonly number[] {
  const parts = config.warnAt!.flatMap((level) =>
    config.kind === "fixed window" ? level : [level / 2, level],
  );
  return [...new Set(parts)].sort((a, b) => a - b).map((part) => part * capacityOf(config));
}

/** A little less than a mark, so that no rounding error passes for reaching it. */
export function justBelow(config: Bucket, mark: number): number {
  return mark * (1 - 1e-9) - 3 * toleranceOf(config);
}

/** The most that may be used after a change from any use that needs no row but its own. */
export function quietMost(config: Bucket): number {
  return justBelow(config, marksOf(config)[0]!);
}

/** The parts of a warning's key. */
export interface WarningKey {
  /** The stored key of the bucket. */
  readonly key: string;
  /** When the call began, epoch ms. */
  readonly at: number;
  /** Different for each call. */
  readonly nonce: string;
  /** The capacity then. */
  readonly of: number;
}

/** The most characters behind the key of a bucket. */
export const END_OF_WARNING = 46;

export function warningKey({ key, at, nonce, of }: WarningKey): string {
  return markerKey(key, `${at.toString(36)}-${nonce}-${of}`);
}

/** The parts of a key; `undefined` for a key that is none of a warning. */
export function readWarningKey(stored: string): WarningKey | undefined {
  const key = bucketKeyOf(stored);
  const [, at, nonce, of] =
    /^(-?[\da-z]+)-([\da-z]+)-(.+)$/.exec(stored.slice(markerKey(key).length)) ?? [];
  if (of === undefined) return undefined;
  return { key, at: Number.parseInt(at!, 36), nonce: nonce!, of: Number(of) };
}
