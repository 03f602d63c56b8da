/** The tokens of the language model, on two tiers. Each visitor has a bucket. */
import { MINUTE, type RateLimitConfig } from "trpc-rate-limit";

export const modelLimits = {
  /** The free tier. Prompts may queue for twice what a minute brings. */
  llmTokens: { kind: "token bucket", rate: 1200, period: MINUTE, maxReserved: 2400 },
} as const satisfies Record<string, RateLimitConfig>;

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
