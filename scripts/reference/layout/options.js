/** Interfaces with members that have pages of their own: the pages of the limiter in the layout. */
export const MEMBERS_ON_PAGES_OF = {
  RateLimiter: "RateLimiter",
  RateLimitOperations: "RateLimiter",
  JoinedOperations: "RateLimiter",
};

/** Interfaces that inherit their other members from an interface on the same page. */
export const REST_OF = {
  FixedWindowConfig: "TokenBucketConfig",
  FakeRateLimits: "RateLimitObserver",
};

/** Types in simpler words than the compiler needs. */
export const SIMPLER = {
  "RateLimiterOptions.limits": "Record<string, LimitConfig>",
  "rateLimitResponse.error": "unknown",
  "limitAll.items": "readonly (LimitAllItem | LimitAllFirst)[]",
  "LimitModelAllOptions.limits": "readonly (ModelLimit | ModelFirst)[]",
};

/** The options of an interface, grouped by question. The other options follow. */
export const OPTION_GROUPS = {
  RateLimiterOptions: {
    "To begin": ["store", "limits"],
    Plans: ["plans", "planFor"],
    Keys: ["hashKey"],
    "When the store is slow or fails": ["timeout", "logger", "rememberDenials"],
    "Changes at run time": ["overrides", "overridesFor"],
    "Several processes": ["channel"],
    "Upkeep and hosts": ["autoPrune", "flushUsage", "waitUntil", "onceFor"],
    Metrics: ["onDecision", "onBatch"],
    Tests: ["clock", "sleep", "random"],
  },
  TokenBucketConfig: {
    "To begin": ["kind", "rate", "period", "capacity"],
    "Reserve, hold and count": ["maxReserved", "holds", "onceFor", "usage"],
    "Close after a denial": ["blockFor", "forgiveAfter"],
    "Try out, and fail open": ["shadow", "whenStoreFails"],
    "Many calls": ["shards", "lease", "rememberDenials"],
  },
};
