/**
 * Rows in which a larger config has used more than the capacity of a smaller config, as after a change
 * to a smaller plan. The smaller config reads its whole capacity as used, and refills by its own rate.
 * The use of the larger config stays in the row, so that a change to the smaller plan and back does not
 * give those tokens back.
 *
 * A row has no room for the use of both configs. Of a token bucket, `ts` alone tells the use of the
 * smaller config: when that config takes tokens, `ts` moves forward by the time in which these tokens
 * are refilled, and `used` stays. So at each instant, the smaller config has the tokens that were
 * refilled since `ts`. Refills beyond its capacity are subtracted from the use of the larger config.
 *
 * Of a fixed window, the smaller config has no tokens before its next window. That window refills the
 * larger config, too, where both have the same period and no rollover. So from that window on, the row
 * is one of the smaller config. The row also becomes one of the smaller config when that config reserves
 * tokens, or is closed.
 */
import { type Bucket, capacityOf } from "../config.js";
import { windowsSince } from "../windows.js";
import { isOfLarger, rowOf } from "./bucket.js";
import type { Row } from "./row.js";

/** Fractions of a ms. The double of any date has room for them. */
const PARTS = 1024;

/**
 * The row after the smaller config has used some more tokens, up to its capacity, or has got tokens back.
 * A charge beyond that capacity is added to the use in the row, and is no debt of the smaller config.
 *
 * @param row one for which {@link isOfLarger} holds.
 * @param reading what the config reads at `now`, see `usedAt`.
 * @param count tokens to use in addition; below 0, tokens that come back to this config.
 */
export function withMoreUsed(
  config: Bucket,
  row: Row,
  now: number,
  reading: Row,
  count: number,
): Row {
  const capacity = capacityOf(config);
  const used = reading.used + count;
  if (config.kind === "fixed window") {
    const isNext = windowsSince(config, row.ts, now) > 0;
    return isNext ? rowOf(config, used, reading.ts) : { used: row.used + count, ts: row.ts };
  }
  const refilled = (Math.max(0, now - row.ts) * config.rate) / config.period;
  const rest = row.used - Math.max(0, refilled - capacity);
  const beyond = Math.max(0, used - capacity);
  const missing = Math.max(0, capacity - used);
  // Rounded up, by less than a thousandth of a ms: an instant has no room for all digits.
  const ahead = Math.ceil(((missing * config.period) / config.rate) * PARTS) / PARTS;
  const ts = Math.max(count < 0 ? 0 : row.ts, reading.ts - ahead);
  const next = { used: rest + beyond, ts };
  return isOfLarger(config, next) ? next : rowOf(config, used, reading.ts);
}
