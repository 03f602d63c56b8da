/** The tokens for the callers of a failover: so many that no call is denied, and none of them refill. */
import { DAY } from "../../server/index.js";

export const TOKENS = 1e9;
export const limits = {
  tokens: { kind: "fixed window", rate: TOKENS, period: 10_000 * DAY, start: 0 },
} as const;
export const KEYS = Array.from({ length: 8 }, (_, i) => `key ${i}`);
