"use client";
export {
  rateLimitDevtools,
  type RateLimitDevtoolsOptions,
  type RateLimitDevtoolsPlugin,
} from "./rate-limit-devtools.js";
