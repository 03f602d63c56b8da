/** What the processes of `model-worker.ts` are limited by, and how much a call uses. */
import { DAY } from "../../server/index.js";

/** Tokens that each call takes first, and that it uses. */
export const ESTIMATE = 120;
export const USED = 100;
/** Calls of a process that are under way at a time. */
export const AT_A_TIME = 4;
/** The provider's quota, which the processes do not know. */
export const QUOTA = 20_000;

export const MODEL_LIMITS = {
  user: { kind: "token bucket", rate: 1e6, period: DAY },
  /** Three times what the provider has. It refills by a token in two seconds. */
  provider: { kind: "token bucket", rate: DAY / 2000, period: DAY, capacity: 3 * QUOTA },
} as const;
