import { DAY } from "../../server/index.js";

/** Limits that have enough tokens, and refill no token within a test. */
export const HELD_LIMITS = {
  quota: { kind: "fixed window", rate: 1_000_000, period: 365 * DAY, holds: true },
  credits: { kind: "credits", holds: true },
} as const;

export const limitOfId = (id: number) => (id % 4 < 2 ? "quota" : "credits");
