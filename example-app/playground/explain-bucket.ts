/** Says in plain words what the algebra is doing to a bucket at this moment. */
import { calculateRateLimit, type ShownConfig } from "trpc-rate-limit";

const tokens = (value: number) =>
  value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const number = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 2 });
const coming = (value: number) => `${number(value)} ${value === 1 ? "comes" : "come"}`;
const seconds = (ms: number) => `${tokens(Math.max(0, ms) / 1000)} s`;

/** A closed bucket is a debt in its row: see `core/block.ts`. Nobody has taken those tokens. */
const closedFor = (ms: number) => `Closed for ${seconds(ms)} more.`;

/** The first of the month after, in UTC. */
function nextMonth(now: number): string {
  const date = new Date(now);
  const start = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
  return start.toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
}

/**
 * @param value the tokens at `now`.
 * @param windowStart the start of any window of a fixed window.
 */
export function explainBucket(
  value: number,
  config: ShownConfig,
  now: number,
  windowStart = 0,
): string {
  const { kind, rate, capacity = rate } = config;
  const isClosed = config.blockFor !== undefined && value < 0;
  const held =
    value < 0
      ? `${tokens(-value)} tokens are owed`
      : `${tokens(value)} of ${number(capacity)} tokens`;
  const missing = capacity - value;
  if (missing <= 0) return `${held}: it is full.`;
  const { period } = config;
  if (period === "month") {
    return `${held}; ${coming(rate)} with each month; the next starts on ${nextMonth(now)}.`;
  }
  if (typeof period === "string") return `${held}.`;
  if (kind === "fixed window") {
    const next = windowStart + Math.ceil((now + 1 - windowStart) / period) * period - now;
    // A window that holds nothing is closed, too.
    if (isClosed) return closedFor(next + Math.floor(-value / rate) * period);
    return `${held}; ${coming(rate)} with each window; the next starts in ${seconds(next)}.`;
  }
  const perSecond = (rate * 1000) / period;
  const refill =
    perSecond >= 0.1 ? `${coming(perSecond)} each second` : `${coming(perSecond * 60)} each minute`;
  /** How long it takes until the bucket holds `count` tokens. */
  const waitFor = (count: number) =>
    calculateRateLimit({ value, ts: now }, config, now, count).retryAfter ?? 0;
  const until = (count: number) => seconds(waitFor(count));
  if (isClosed) return `${closedFor(waitFor(0))} It opens empty, and ${refill}.`;
  return value < 0
    ? `${held}; ${refill}; repaid in ${until(0)}.`
    : `${held}; ${refill}; full in ${until(capacity)}.`;
}
