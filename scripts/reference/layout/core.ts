/** The pages of `trpc-rate-limit`. */
import type { Sections } from "./sections.js";

export const CORE: Sections = {
  "What a call is told": [
    "isRateLimitError",
    "denialOf",
    { main: "RateLimitError", types: ["RateLimitErrorData", "RateLimitDenial"] },
    "RateLimitInputError",
    "RateLimitStoreError",
    "RateLimitConfigError",
    {
      title: "Results",
      about: "What calls answer, and what a page gets to calculate with.",
      types: ["RateLimitResult", "TakenShard", "RateLimitSnapshot", "TokensHeld"],
    },
  ],
  "What a limit is": [
    {
      title: "Token bucket",
      about: 'The options of a limit of `kind: "token bucket"`: tokens that come little by little.',
      types: ["TokenBucketConfig", "LeaseConfig", "UsageConfig"],
    },
    {
      title: "Fixed window",
      about: 'The options of a limit of `kind: "fixed window"`: tokens that come all at once.',
      types: ["FixedWindowConfig"],
    },
    {
      title: "Credits and slots",
      about: "The options of a limit that has credits or slots.",
      types: [
        "CreditsConfig",
        "ConcurrencyConfig",
        "LimitConfig",
        "RateLimitConfig",
        "ShownConfig",
      ],
    },
    {
      title: "Durations",
      about: "Lengths of time in ms, for `period` and other options.",
      types: ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MAX_RETRY_AFTER"],
    },
    "validateConfig",
  ],
  "The arithmetic": [
    {
      main: "calculateRateLimit",
      types: ["CalculatedRateLimit", "RateLimitState", "PeriodicConfig", "Bucket"],
    },
    "levelOf",
    { main: "resetAt", types: ["ResettableState"] },
    "waitInWords",
    "waitsInLine",
  ],
};
