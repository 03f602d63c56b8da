/**
 * Ids that are charged once. A marker is a row of its own, written together with the first grant:
 *
 * - `value`: the tokens that were left then.
 * - `ts`: the instant of the grant. If its tokens were held and the hold has ended, a fraction of a
 *   ms says how, see {@link HoldEnd}: the clocks of databases count whole ones.
 *
 * The first answer follows from these two numbers. A marker is full when `onceFor` has passed.
 *
 * Its key is the key of the bucket, a bar and the id. In the key of the bucket, a bar has a backslash
 * before it. So no two pairs of key and id share a marker, and the markers of one key follow each
 * other. A store may have to find the bucket of a marker.
 */
import { type RateLimitState, roundUp, stateAt } from "../calculate.js";
import { floorOf, type Bucket } from "../config.js";
import { grantOf, type RateLimitResult } from "../decide.js";
import { windowAt } from "../windows.js";
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

/** The key of a marker. Without an id, it is what those of all markers of the key begin with. */
export function markerKey(storedKey: string, storedId: string = ""): string {
  return storedKey.replaceAll(/[\\|]/g, "\\$&") + SEPARATOR + storedId;
}

/** The key of the bucket that a marker is about. */
export function bucketKeyOf(key: string): string {
  const [escaped] = /^(?:[^\\|]|\\.)*/s.exec(key)!;
  return escaped.replaceAll(/\\(.)/gs, "$1");
}

/**
 * Markers are pruned as windows of 2^64 tokens, so they hold fewer than that. No limit that is in use
 * holds as many.
 */
const MOST = 2 ** 62;

/** The marker of a grant at `now`, epoch ms. */
export function markerOf({ value }: { value: number }, now: number): RateLimitState {
  return { value: Math.min(MOST, Math.max(-MOST, value)), ts: now };
}

/**
 * How a hold has ended, see `hold.ts`.
 *
 * - `"settled"`: by `settle`.
 * - `"released"`: by `release`. All of its tokens came back, so a later call with its id is charged.
 * - `"kept"`: nothing settled it in time, and it stays charged.
 * - `"given back"`: nothing settled it in time, and its tokens came back, as if it had been released.
 */
export type HoldEnd = "settled" | "released" | "kept" | "given back";

/** Fractions that no clock of whole or decimal fractions of a ms tells. */
const ENDS: readonly (readonly [HoldEnd, fraction: number])[] = [
  ["settled", 1 / 1024],
  ["released", 3 / 1024],
  ["kept", 5 / 1024],
  ["given back", 7 / 1024],
];

/** The marker of a hold that has ended. */
export function endedMarker({ value, ts }: RateLimitState, end: HoldEnd): RateLimitState {
  const [, fraction] = ENDS.find(([each]) => each === end)!;
  return { value, ts: Math.floor(ts) + fraction };
}

/** How the hold of a marker has ended. `undefined` where it is open, and where there was none. */
export function endOfHold({ ts }: RateLimitState): HoldEnd | undefined {
  return ENDS.find(([, fraction]) => ts - Math.floor(ts) === fraction)?.[0];
}

/** The instant of the grant, without the part that tells how a hold has ended. */
function grantedAt(ts: number): number {
  return endOfHold({ value: 0, ts }) === undefined ? ts : Math.floor(ts);
}

/** Whether `onceFor` has passed since the grant. */
export function isForgotten({ ts }: RateLimitState, onceFor: number, now: number): boolean {
  return now >= grantedAt(ts) + onceFor;
}

/** Whether a marker still says that its id was charged. A clock that is behind changes nothing. */
export function wasCharged(
  marker: RateLimitState | null | undefined,
  onceFor: number,
  now: number,
): marker is RateLimitState {
  if (marker === null || marker === undefined || isForgotten(marker, onceFor, now)) return false;
  const end = endOfHold(marker);
  return end !== "released" && end !== "given back";
}

/**
 * The answer that the first call got, at a later instant. Of a reservation, `retryAfter` ends at the
 * same instant as it did.
 *
 * @param row the limit's own row, for its windows.
 */
export function answerAgain(
  marker: RateLimitState,
  row: RateLimitState | null | undefined,
  config: Bucket,
  now: number,
): RateLimitResult & { ok: true } {
  const state = { value: marker.value, ts: takenAt(marker.ts, row, config) };
  if (stateAt(state, config, now).value < floorOf(config, false)) {
    const granted = grantOf(state, config, now) as RateLimitResult & { ok: true };
    return { ...granted, repeated: true };
  }
  return { ok: true, value: roundUp(state.value, config), ts: state.ts, repeated: true };
}

/** The `ts` that a grant at this instant has left in the row. Of a fixed window, it is its start. */
export function takenAt(
  instant: number,
  row: RateLimitState | null | undefined,
  config: Bucket,
): number {
  const ts = grantedAt(instant);
  if (config.kind !== "fixed window") return ts;
  const isPeriodic = row && typeof config.period === "number";
  return windowAt(isPeriodic ? { ...config, start: row.ts } : config, ts);
}
