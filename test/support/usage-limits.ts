import { DAY } from "../../server/index.js";

/** A limit that counts its usage, has enough tokens, and refills no token within a test. */
export const USAGE_LIMITS = {
  tokens: { kind: "fixed window", rate: 1_000_000, period: 365 * DAY, start: 0, usage: true },
} as const;
