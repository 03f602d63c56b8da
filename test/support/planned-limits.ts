/** Limits of each kind with plans, and one limit without plans. */
import { DAY, HOUR, type LimitConfigs } from "../../server/index.js";

export const plans = ["free", "pro"];

export const plannedLimits = {
  pictures: { kind: "fixed window", period: DAY, start: 0, plans: { free: 1, pro: 50 } },
  send: {
    kind: "token bucket",
    period: HOUR,
    plans: { free: { rate: 2 }, pro: { rate: 20, capacity: 5 } },
  },
  video: { kind: "fixed window", period: DAY, start: 0, plans: { free: "none", pro: "unlimited" } },
  jobs: { kind: "concurrency", plans: { free: 1, pro: 3 } },
  signUp: { kind: "fixed window", rate: 100, period: HOUR, start: 0 },
} as const satisfies LimitConfigs;
