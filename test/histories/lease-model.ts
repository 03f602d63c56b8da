/**
 * A small model of leases in virtual time, and mistakes that an implementation can make. The checker of
 * bounds is tried on this model.
 */
import type { Random } from "../simulation/random.js";
import type { BoundedLimit, BucketEvent } from "./lease-bounds.js";

export type Mistake =
  /** Blocks are taken from the whole capacity. */
  | "naive"
  /** The remaining tokens of a block go back into the row. */
  | "given back"
  /** Using a block prolongs its life. */
  | "prolonged";

interface Block {
  left: number;
  until: number;
}

const PROCESSES = 4;
/** The length of a history, ms. */
const DURATION = 60_000;

/** The grants and denials of a few processes whose callers call in bursts. */
export function modelOfLeases(
  { kind, rate, period, capacity = rate, leaseMs }: BoundedLimit,
  random: Random,
  mistake?: Mistake,
): BucketEvent[] {
  const isWindow = kind === "fixed window";
  const most = isWindow || mistake === "naive" ? capacity : capacity - (rate * leaseMs) / period;
  const row = { value: most, ts: 0 };
  const blocks: (Block | undefined)[] = [];
  const events: BucketEvent[] = [];
  for (let now = 0; now < DURATION;) {
    // The row fills up, or nearly. Slow calls take blocks. The row refills, and then all callers call.
    now += random.below((1.2 * capacity * period) / rate);
    for (let i = random.between(1, 20); i > 0; i--)
      attempt((now += random.between(1, leaseMs / 5)));
    now += random.below(leaseMs);
    for (let i = random.between(1, 2 * capacity); i > 0; i--) attempt(now);
  }
  return events;

  function attempt(now: number): void {
    const ok = call(random.below(PROCESSES), now);
    events.push({ kind: ok ? "grant" : "denial", count: 1, start: now, end: now });
  }

  function call(index: number, now: number): boolean {
    refill(now);
    for (const [i, block] of blocks.entries()) {
      if (block === undefined || block.until > now) continue;
      if (mistake === "given back") row.value = Math.min(most, row.value + block.left);
      blocks[i] = undefined;
    }
    const block = blocks[index];
    if (block !== undefined && block.left >= 1) {
      block.left--;
      if (mistake === "prolonged") block.until = now + leaseMs;
      return true;
    }
    if (row.value < 1) return false;
    const size = Math.floor(row.value / 2);
    const taken = Math.max(1, size);
    row.value -= taken;
    const ofWindow = (Math.floor(now / period) + 1) * period;
    const until = isWindow && mistake !== "prolonged" ? ofWindow : now + leaseMs;
    if (size >= 4) blocks[index] = { left: taken - 1, until };
    return true;
  }

  function refill(now: number): void {
    const came = isWindow
      ? (Math.floor(now / period) - Math.floor(row.ts / period)) * rate
      : ((now - row.ts) * rate) / period;
    row.value = Math.min(most, row.value + came);
    row.ts = now;
  }
}
