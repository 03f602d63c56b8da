"use client";
export type { TRPCClientLike } from "../trpc-clients.js";
export {
  rateLimitDevtools,
  type RateLimitDevtoolsOptions,
  type RateLimitDevtoolsPlugin,
} from "./rate-limit-devtools.js";
