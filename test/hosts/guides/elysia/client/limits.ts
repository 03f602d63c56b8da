import { createRateLimitReact } from "trpc-rate-limit/fetch/react";
import type { limiter } from "../server/limiter.js";

export const { RateLimitProvider, RateLimitButton, useRateLimitedAction } = createRateLimitReact<
  typeof limiter
>({ url: "/api/limits" });
