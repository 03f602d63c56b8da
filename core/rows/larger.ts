/**
 * Rows in which a larger config has used more than this one has. This one reads it as all of its own,
 * refilled since by its own rate. What was used stays in the row, so that changing to and fro does not
 * give it back to the larger one.
 *
 * A row has no room for both figures, but the smaller one is told by the instant alone: of a token
 * bucket, `ts` moves on by the time in which what is taken is refilled, and `used` stays. So at each
 * instant, the smaller config has what has been refilled since `ts`. What refills beyond its capacity
 * comes off what the larger one has used.
 *
 * Of a fixed window, nothing comes before the next window, which refills the larger config, too, where
 * both have one period and no rollover. The row is that of the smaller one from then on. So it is where
 * the smaller one reserves tokens, or is closed: a row has no room for both.
 */
import { type Bucket, capacityOf } from "../config.js";
import { windowsSince } from "../windows.js";
import { isOfLarger, rowOf } from "./bucket.js";
import type { Row } from "./row.js";

/** Of a ms. Any date has room for them. */
const PARTS = 1024;

/**
 * The row after some more tokens were used, up to the capacity, or were given back. Of what is charged
 * beyond it, the row says that it was used, and to the smaller config it is no debt.
 *
 * @param row one for which {@link isOfLarger} holds.
 * @param reading what the config reads at `now`, see `usedAt`.
 * @param count what is used beyond that; below 0, what comes back of its own.
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
  // Up, by less than a thousandth of a ms: an instant has no room for all digits.
  const ahead = Math.ceil(((missing * config.period) / config.rate) * PARTS) / PARTS;
  const ts = Math.max(count < 0 ? 0 : row.ts, reading.ts - ahead);
  const next = { used: rest + beyond, ts };
  return isOfLarger(config, next) ? next : rowOf(config, used, reading.ts);
}
