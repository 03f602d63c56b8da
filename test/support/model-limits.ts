/** The limits of the processes of `model-worker.ts`, and how much a call uses. */
import { DAY } from "../../server/index.js";

/** The tokens that each call takes first, and the tokens that the call uses. */
export const ESTIMATE = 120;
export const USED = 100;
/** How many calls of a process are under way at a time. */
export const AT_A_TIME = 4;
/** The provider's quota, which the processes do not know. */
export const QUOTA = 20_000;

export const MODEL_LIMITS = {
  user: { kind: "token bucket", rate: 1e6, period: DAY },
  /** Three times the provider's quota. The limit refills one token in two seconds. */
  provider: { kind: "token bucket", rate: DAY / 2000, period: DAY, capacity: 3 * QUOTA },
} as const;
