/** Limits whose tokens are held, and how exactly a test knows what each bucket must hold. */
import type { LimitConfigs } from "../../server/index.js";
import type { BoundedLimit } from "./lease-bounds.js";

export interface HoldLimit {
  readonly capacity: number;
  /** Whether tokens come without a call. If not, the bucket's tokens are known exactly. */
  readonly refills: boolean;
  readonly bounds: BoundedLimit;
}

/** The names of the limits. Each period uses one of them. */
export const HOLD_NAMES = ["window", "credits", "bucket"] as const;

const DAY = 86_400_000;
const SECOND = 1000;

/** @param capacity the capacity of each limit. */
export function holdLimits(capacity: number) {
  const configs = {
    window: { kind: "fixed window", rate: capacity, period: 10_000 * DAY, start: 0, holds: true },
    credits: { kind: "credits", holds: true },
    bucket: { kind: "token bucket", rate: 2 * capacity, period: SECOND, capacity, holds: true },
  } as const satisfies LimitConfigs;
  const { kind, rate, period } = configs.bucket;
  const bounds = { kind, rate, period, capacity, leaseMs: 0 };
  const still: HoldLimit = { capacity, refills: false, bounds };
  const checked: Record<(typeof HOLD_NAMES)[number], HoldLimit> = {
    window: still,
    credits: still,
    bucket: { capacity, refills: true, bounds },
  };
  return { configs, checked };
}
