/** The pages of `trpc-rate-limit/client`. */
import type { Sections } from "./sections.js";

export const CLIENT: Sections = {
  Links: ["rateLimitLink", "rateLimitRetry", "rateLimitRetryDelay", "withOnceId", "predictFirst"],
  "The observer": [
    "createRateLimitObserver",
    { title: "Observer", about: "What an observer can do.", types: ["RateLimitObserver"] },
    "createTRPCTransport",
    "shareStream",
    "inspectRateLimits",
  ],
  "Types that several of them need": [
    {
      title: "States",
      about: "Limits, calls and answers, as hooks, links and observers know them.",
      types: [
        "RateLimitItem",
        "LimitUse",
        "LinkedLimit",
        "CheckedRateLimit",
        "RateLimitStatus",
        "ConnectionState",
        "LiveMode",
        "WhenLimited",
        "TRPCClientLike",
      ],
    },
    {
      title: "Transports",
      about: "How an observer reaches the server, and where it keeps what it knows.",
      types: ["RateLimitTransport", "WatchHandlers", "SnapshotCache"],
    },
  ],
};
