import { DAY } from "../../server/index.js";

/** Limits that have enough tokens, and refill no token within a test. */
export const ONCE_LIMITS = {
  one: { kind: "fixed window", rate: 1_000_000, period: 365 * DAY },
  two: { kind: "token bucket", rate: 1_000_000, period: 1_000_000 * DAY, capacity: 1_000_000 },
} as const;
