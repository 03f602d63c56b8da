/** tRPC with limits in memory, for the small routers of the tests. */
import { initTRPC } from "@trpc/server";
import { createRateLimiter, type LimitConfigs, memoryStore } from "../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  formatRateLimitError,
} from "../../server/trpc/index.js";

export interface LimitedTRPCOptions {
  /** The server's time. @default Date.now */
  clock?: () => number;
  /** The random numbers that pick shards. @default Math.random */
  random?: () => number;
}

export function createLimitedTRPC<const TLimits extends LimitConfigs>(
  limits: TLimits,
  options: LimitedTRPCOptions = {},
) {
  const limiter = createRateLimiter({ store: memoryStore(), limits, ...options });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  return { limiter, t, rl: createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter }) };
}
