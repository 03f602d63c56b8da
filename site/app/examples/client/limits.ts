/** The hooks that the examples import. */
import { createRateLimitReact } from "trpc-rate-limit/react";
import type { AppRouter } from "../server.js";

export const {
  RateLimitProvider,
  useRateLimit,
  useRateLimitedMutation,
  RateLimitCountdown,
  RateLimitMeter,
} = createRateLimitReact<AppRouter>();
