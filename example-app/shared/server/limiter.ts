/**
 * The limiter of all parts. Each part names its limits in its own `limits.ts`. Procedures, hooks and
 * errors know these names.
 */
import { createRateLimiter, prismaStore, type RateLimiterOptions } from "trpc-rate-limit/server";
import { chatLimits } from "../../chat/limits.js";
import { controlRoomLimits } from "../../control-room/limits.js";
import { logInLimits } from "../../log-in/limits.js";
import { modelLimits, type Plan, PLANS } from "../../model/limits.js";
import { overviewLimits } from "../../overview/limits.js";
import { playgroundLimits } from "../../playground/limits.js";
import { raceLimits } from "../../race/limits.js";
import { signUpLimits } from "../../sign-ups/limits.js";
import type { PrismaClient } from "../generated/prisma/client.js";

export const LIMITS = {
  // The control room opens on the first limit here.
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
    plans: PLANS,
    // Limit: the plan of a visitor, for calls, for open pages and for the control room.
    plan: ({ key }) => planOf(prisma, key),
    // The demo is about changes that are seen at once, also by its other process.
    planFor: 0,
    // The control room bans, exempts and raises. In the playground, each visitor has a config of its own.
    overrides: true,
    overridesFor: 0,
    autoPrune: true,
    ...hooks,
  });
}

async function planOf(prisma: PrismaClient, id: string | undefined): Promise<Plan> {
  if (id === undefined) return "free";
  const visitor = await prisma.visitor.findUnique({ where: { id } });
  return visitor?.plan === "paid" ? "paid" : "free";
}
