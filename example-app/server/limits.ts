/** The limits, named once; procedures, hooks and errors know these names. */
import {
  createRateLimiter,
  HOUR,
  MINUTE,
  prismaStore,
  type RateLimitConfig,
  type RateLimiterOptions,
  SECOND,
} from "trpc-rate-limit/server";
import type { PrismaClient } from "../generated/prisma/client.js";

export const LIMITS = {
  /** Three messages at once, then one every six seconds. */
  sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  /** Five failures. The sixth closes the account for half a minute. */
  logIn: { kind: "token bucket", rate: 5, period: MINUTE, blockFor: 30 * SECOND },
  /** Tokens of the language model. Prompts may queue for twice that much. */
  llmTokens: { kind: "token bucket", rate: 1200, period: MINUTE, maxReserved: 2400 },
  /** A hundred accounts in five minutes, for all visitors together. */
  signUp: { kind: "fixed window", rate: 100, period: 5 * MINUTE, start: 0 },
  /** Each visitor chooses its numbers. */
  playground: { kind: "token bucket", rate: 30, period: MINUTE, capacity: 10, maxReserved: 10 },
} as const satisfies Record<string, RateLimitConfig>;

/** The paid tier of the language model. */
export const PAID: RateLimitConfig = { ...LIMITS.llmTokens, rate: 12_000, maxReserved: 24_000 };

export function createLimiter(
  prisma: PrismaClient,
  hooks: Pick<RateLimiterOptions<typeof LIMITS>, "onDecision" | "onBatch"> = {},
) {
  return createRateLimiter({
    store: prismaStore(prisma),
    limits: LIMITS,
    // A row goes when it is full on both tiers.
    autoPrune: { every: HOUR, alsoConfigs: { llmTokens: [PAID] } },
    ...hooks,
  });
}
