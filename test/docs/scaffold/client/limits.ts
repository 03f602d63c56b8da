import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server/router.js";

export const {
  RateLimitProvider,
  useRateLimit,
  useRateLimitedMutation,
  RateLimitCountdown,
  RateLimitMeter,
} = createRateLimitReact<AppRouter>();
