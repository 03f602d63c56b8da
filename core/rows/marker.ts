/**
 * Ids that are charged once. A marker is a row of its own, written together with the first grant:
 *
 * - `used`: what the row of the bucket said then.
 * - `ts`: the instant of the grant, in whole ms. If its tokens were held and the hold has ended, a
 *   fraction of a ms says how, see {@link HoldEnd}. Limiters count in whole ms, whatever their clock is.
 *
 * The first answer follows from these two numbers. A marker is full when `onceFor` has passed.
 *
 * A second row, beside the marker of a call with `atLeast`, says in `used` how many tokens were granted. Its
 * `ts` is that of the grant, so that it is of no other grant under the same id.
 *
 * The key of a marker is the key of the bucket, a bar and the id. In the key of the bucket, a bar has a
 * backslash before it. So no two pairs of key and id share a marker, and the markers of one key follow each
 * other. A store may have to find the bucket of a marker.
 */
import { roundUp } from "../calculate.js";
import { tokensOf, usedAt } from "./reading.js";
import { type Bucket, mostUsed } from "../config.js";
import { grantOf, type RateLimitResult } from "../decide.js";
import { RateLimitInputError } from "../errors.js";
import { MAX_KEY_LENGTH } from "../validate-key.js";
import { windowAt } from "../windows.js";
import { isOfLarger, rowOf } from "./bucket.js";
import type { Row } from "./row.js";
import { fullAfter, RESERVED_PREFIX, type SideRows } from "./side-rows.js";

export const MARKERS: SideRows = {
  prefix: `${RESERVED_PREFIX}once:`,
  configOf: (config, ofLimiter) =>
    config.kind === "concurrency" || (config.shards ?? 1) > 1
      ? undefined
      : fullAfter(config.onceFor ?? ofLimiter),
  optionOf: (config) =>
    config.kind === "concurrency" || config.onceFor === undefined ? undefined : "onceFor",
  keyStart: (storedKey) => markerKey(storedKey),
};

const SEPARATOR = "|";

/** The key of a marker. Without an id, the start of the keys of all markers of this bucket. */
export function markerKey(storedKey: string, storedId: string = ""): string {
  return storedKey.replaceAll(/[\\|]/g, "\\$&") + SEPARATOR + storedId;
}

/**
 * Checks that the key of a bucket leaves room in a longer key, as {@link markerKey} makes it.
 *
 * @param end the most characters behind the key of the bucket.
 * @param reason why there are such keys, for the message. The key itself may be an address.
 * @throws RateLimitInputError for a key that leaves too little room.
 */
export function validateRoom(storedKey: string, end: number, reason: string): void {
  const length = markerKey(storedKey).length - 1;
  if (length <= MAX_KEY_LENGTH - end) return;
  const message =
    `key must have at most ${MAX_KEY_LENGTH - end} characters, as it is stored, because ${reason}; ` +
    `this one has ${length} (a bar and a backslash count twice)`;
  throw new RateLimitInputError("key", message);
}

/** The key of the bucket that a marker is about. */
export function bucketKeyOf(key: string): string {
  const [escaped] = /^(?:[^\\|]|\\.)*/s.exec(key)!;
  return escaped.replaceAll(/\\(.)/gs, "$1");
}

/**
 * The most tokens that a marker says are used: markers are pruned as windows of 2^64 tokens. No limit in
 * practice uses so many.
 */
const MOST = 2 ** 62;

/** In place of 0: a row that says that nothing was used is a full row. */
const NOTHING = 2 ** -64;

/**
 * The marker of a grant. Where the row is one of a larger config, the marker says what this config reads.
 *
 * @param row the bucket after the grant.
 * @param now epoch ms.
 */
export function markerOf(row: Row, config: Bucket, now: number): Row {
  const { used } = isOfLarger(config, row)
    ? rowOf(config, usedAt(row, config, now).used, now)
    : row;
  return { used: Math.min(MOST, Math.max(-MOST, used)) || NOTHING, ts: now };
}

/**
 * How a hold has ended, see `hold.ts`.
 *
 * - `"settled"`: by `settle`.
 * - `"released"`: by `release`. All of its tokens came back, so a later call with its id is charged.
 * - `"kept"`: nothing settled the hold in time, and its tokens stay charged.
 * - `"given back"`: nothing settled the hold in time, and its tokens came back, as with `release`.
 */
export type HoldEnd = "settled" | "released" | "kept" | "given back";

/** Fractions that all databases keep. */
const ENDS: readonly (readonly [HoldEnd, fraction: number])[] = [
  ["settled", 1 / 1024],
  ["released", 3 / 1024],
  ["kept", 5 / 1024],
  ["given back", 7 / 1024],
];

/** The marker of a hold that has ended. */
export function endedMarker({ used, ts }: Row, end: HoldEnd): Row {
  const [, fraction] = ENDS.find(([each]) => each === end)!;
  return { used, ts: Math.floor(ts) + fraction };
}

/** How the hold of a marker has ended. `undefined` where the hold is open, and where there was none. */
export function endOfHold({ ts }: Row): HoldEnd | undefined {
  return ENDS.find(([, fraction]) => ts - Math.floor(ts) === fraction)?.[0];
}

/** The instant of the grant, without the part that tells how a hold has ended. */
function grantedAt(ts: number): number {
  return endOfHold({ used: 0, ts }) === undefined ? ts : Math.floor(ts);
}

/** Whether `onceFor` has passed since the grant. */
export function isForgotten({ ts }: Row, onceFor: number, now: number): boolean {
  return now >= grantedAt(ts) + onceFor;
}

/** Whether a marker still says that its id was charged. A clock that is behind gives the same answer. */
export function wasCharged(
  marker: Row | null | undefined,
  onceFor: number,
  now: number,
): marker is Row {
  if (marker === null || marker === undefined || isForgotten(marker, onceFor, now)) return false;
  const end = endOfHold(marker);
  return end !== "released" && end !== "given back";
}

/**
 * The answer that the first call got, at a later instant. The wait of a reservation ends at the same
 * instant as in the first answer.
 *
 * @param row the limit's own row, for its windows.
 */
export function answerAgain(
  marker: Row,
  row: Row | null | undefined,
  config: Bucket,
  now: number,
): RateLimitResult & { ok: true } {
  const used = marker.used === NOTHING ? 0 : marker.used;
  const taken = { used, ts: takenAt(marker.ts, row, config) };
  if (usedAt(taken, config, now).used > mostUsed(config)) {
    const granted = grantOf(taken, config, now) as RateLimitResult & { ok: true };
    return { ...granted, repeated: true };
  }
  const { value, ts } = tokensOf(taken, config);
  return { ok: true, value: roundUp(value, config), ts, repeated: true };
}

/** The shard of the row that says how many tokens were granted. */
export const GRANTED_SHARD = 2;

/** The row that says how many tokens were granted at an instant, epoch ms. */
export function grantedRow(granted: number, now: number): Row {
  return { used: Math.min(MOST, granted), ts: now };
}

/** How many tokens the grant of a marker was of; `undefined` where no row says it. */
export function grantedIn(row: Row | null, marker: Row): number | undefined {
  return row?.ts === grantedAt(marker.ts) ? row.used : undefined;
}

/** The `ts` that a grant at this instant has left in the row: of a fixed window, the window's start. */
export function takenAt(instant: number, row: Row | null | undefined, config: Bucket): number {
  const ts = grantedAt(instant);
  if (config.kind !== "fixed window") return ts;
  const isPeriodic = row && typeof config.period === "number";
  return windowAt(isPeriodic ? { ...config, start: row.ts } : config, ts);
}
