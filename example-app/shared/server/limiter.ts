/**
 * The limiter of all parts. Each part names its limits in its own `limits.ts`. Procedures, hooks and
 * errors know these names.
 */
import {
  createRateLimiter,
  HOUR,
  prismaStore,
  type RateLimiterOptions,
} from "trpc-rate-limit/server";
import { chatLimits } from "../../chat/limits.js";
import { controlRoomLimits } from "../../control-room/limits.js";
import { logInLimits } from "../../log-in/limits.js";
import { modelLimits, PAID } from "../../model/limits.js";
import { overviewLimits } from "../../overview/limits.js";
import { playgroundLimits } from "../../playground/limits.js";
import { raceLimits } from "../../race/limits.js";
import { signUpLimits } from "../../sign-ups/limits.js";
import type { PrismaClient } from "../generated/prisma/client.js";

export const LIMITS = {
  // The control room opens on the first of these.
  ...controlRoomLimits,
  ...overviewLimits,
  ...chatLimits,
  ...logInLimits,
  ...modelLimits,
  ...signUpLimits,
  ...raceLimits,
  ...playgroundLimits,
};

export function createLimiter(
  prisma: PrismaClient,
  hooks: Pick<RateLimiterOptions<typeof LIMITS>, "onDecision" | "onBatch"> = {},
) {
  return createRateLimiter({
    store: prismaStore(prisma),
    limits: LIMITS,
    // The control room bans, exempts and raises.
    overrides: true,
    // A row goes when it is full on both tiers.
    autoPrune: { every: HOUR, alsoConfigs: { llmTokens: [PAID] } },
    ...hooks,
  });
}
