/** Each visitor's tokens of the language model, on two tiers, its credits, and its slots. */
import { type LimitConfig, MINUTE, type RateLimitConfig, SECOND } from "trpc-rate-limit";

export const modelLimits = {
  /** The free tier. Prompts may queue for twice what a minute brings. */
  llmTokens: { kind: "token bucket", rate: 1200, period: MINUTE, maxReserved: 2400 },
  /** What a visitor has bought. It pays for prompts that the tier has no tokens for now. */
  credits: { kind: "credits", capacity: 10_000 },
  /** Two answers at a time. The slots of a process that dies are free after ten seconds. */
  generations: { kind: "concurrency", slots: 2, ttl: 10 * SECOND },
} as const satisfies Record<string, LimitConfig>;

/** The paid tier. */
export const PAID: RateLimitConfig = {
  ...modelLimits.llmTokens,
  rate: 12_000,
  maxReserved: 24_000,
};

/** The config for a caller on this tier. `undefined`: the limit's own. */
export function configOfTier(tier: string): RateLimitConfig | undefined {
  return tier === "paid" ? PAID : undefined;
}
