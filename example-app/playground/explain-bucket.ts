/** Says in plain words what the algebra is doing to a bucket at this moment. */
import { calculateRateLimit, type ShownConfig } from "trpc-rate-limit";

const tokens = (value: number) =>
  value.toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const number = (value: number) => value.toLocaleString("en", { maximumFractionDigits: 2 });
const coming = (value: number) => `${number(value)} ${value === 1 ? "comes" : "come"}`;
const seconds = (ms: number) => `${tokens(Math.max(0, ms) / 1000)} s`;

/** The first day of the next month, in UTC. */
function nextMonth(now: number): string {
  const date = new Date(now);
  const start = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
  return start.toLocaleDateString("en-GB", { day: "numeric", month: "long", timeZone: "UTC" });
}

/**
 * @param value the tokens at `now`.
 * @param windowStart the start of any window of a fixed window.
 * @param closedUntil when a bucket opens that a denial has closed.
 */
export function explainBucket(
  value: number,
  config: ShownConfig,
  now: number,
  windowStart = 0,
  closedUntil = now,
): string {
  const { kind, rate, capacity = rate } = config;
  const closed = closedUntil > now ? `Closed for ${seconds(closedUntil - now)} more.` : undefined;
  const held =
    value < 0
      ? `${tokens(-value)} tokens are owed`
      : `${tokens(value)} of ${number(capacity)} tokens`;
  const missing = capacity - value;
  if (missing <= 0) return `${held}: it is full.`;
  const { period } = config;
  if (closed !== undefined && kind === "fixed window") return closed;
  if (period === "month") {
    return `${held}; ${coming(rate)} with each month; the next starts on ${nextMonth(now)}.`;
  }
  if (typeof period === "string") return `${held}.`;
  if (kind === "fixed window") {
    const next = windowStart + Math.ceil((now + 1 - windowStart) / period) * period - now;
    return `${held}; ${coming(rate)} with each window; the next starts in ${seconds(next)}.`;
  }
  const perSecond = (rate * 1000) / period;
  const refill =
    perSecond >= 0.1 ? `${coming(perSecond)} each second` : `${coming(perSecond * 60)} each minute`;
  /** How long it takes until the bucket holds `count` tokens. */
  const waitFor = (count: number) =>
    calculateRateLimit({ value, ts: now }, config, now, count).retryAfter ?? 0;
  const until = (count: number) => seconds(waitFor(count));
  if (closed !== undefined) return `${closed} It opens empty, and ${refill}.`;
  return value < 0
    ? `${held}; ${refill}; repaid in ${until(0)}.`
    : `${held}; ${refill}; full in ${until(capacity)}.`;
}
