/** Each visitor's tokens of the language model, on two plans, its credits, and its slots. */
import { MINUTE, SECOND } from "trpc-rate-limit";
import type { LimitConfigs } from "trpc-rate-limit/server";

export const PLANS = ["free", "paid"] as const;
export type Plan = (typeof PLANS)[number];

export const modelLimits = {
  llmTokens: {
    kind: "token bucket",
    period: MINUTE,
    plans: {
      /** Prompts may queue for twice what a minute brings. */
      free: { rate: 1200, maxReserved: 2400 },
      paid: { rate: 12_000, maxReserved: 24_000 },
    },
  },
  /** Bought tokens. The credits pay for prompts for which the plan has no tokens now. */
  credits: { kind: "credits", capacity: 10_000 },
  /** Two answers at a time. The slots of a process that dies are free after ten seconds. */
  generations: { kind: "concurrency", slots: 2, ttl: 10 * SECOND },
} as const satisfies LimitConfigs;
