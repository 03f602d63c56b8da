/** What is on which page of the reference, in which order, and under which words. */
const page = (title, about, content) => ({ title, about, ...content });

const METHODS =
  "These are methods of the limiter that [`createRateLimiter`](createRateLimiter.md) returns.";

/**
 * The pages of the reference, by entry point, in the order in which a newcomer needs them. A page is
 *
 * - a name: that of an exported function or class, or with `of` that of a member of what a function returns;
 * - `{ title, of, members }`: methods of an interface that answer one question;
 * - `{ title, types }`: types that several pages need.
 *
 * A type that no page names stands on the first page that needs it.
 */
export const LAYOUT = {
  "trpc-rate-limit": {
    "What a call is told": [
      "isRateLimitError",
      { name: "RateLimitError", types: ["RateLimitErrorData", "RateLimitDenial"] },
      "RateLimitInputError",
      "RateLimitStoreError",
      "RateLimitConfigError",
      page("Results", "What calls answer, and what a page gets to calculate with.", {
        types: ["RateLimitResult", "TakenShard", "RateLimitSnapshot", "TokensHeld"],
      }),
    ],
    "What a limit is": [
      page(
        "Token bucket",
        'The options of a limit of `kind: "token bucket"`: tokens that come little by little.',
        {
          types: ["TokenBucketConfig", "LeaseConfig", "UsageConfig"],
        },
      ),
      page(
        "Fixed window",
        'The options of a limit of `kind: "fixed window"`: tokens that come all at once.',
        {
          types: ["FixedWindowConfig"],
        },
      ),
      page("Credits and slots", "The options of a limit that has credits or slots.", {
        types: [
          "CreditsConfig",
          "ConcurrencyConfig",
          "LimitConfig",
          "RateLimitConfig",
          "ShownConfig",
        ],
      }),
      page("Durations", "Lengths of time in ms, for `period` and other options.", {
        types: ["SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MAX_RETRY_AFTER"],
      }),
      "validateConfig",
    ],
    "The arithmetic": [
      {
        name: "calculateRateLimit",
        types: ["CalculatedRateLimit", "RateLimitState", "PeriodicConfig", "Bucket"],
      },
      "waitsInLine",
    ],
  },
  server: {
    "The limiter": [
      { name: "createRateLimiter", types: ["RateLimiter", "RateLimiterOptions"] },
      page(
        "Take tokens",
        `${METHODS} They take tokens, or look at them. A name that is not among its limits needs a \`config\`; see [\`WithConfig\`](calls.md#withconfig).`,
        {
          of: "RateLimiter",
          members: ["limit", "check", "getValue", "acquire"],
        },
      ),
      page("Several at once", `${METHODS} They decide about several limits in one step.`, {
        of: "RateLimiter",
        members: ["limitAll", "limitFirst"],
      }),
      page("Give back", `${METHODS} They correct what a call has taken.`, {
        of: "RateLimiter",
        members: ["refund", "settle", "charge"],
      }),
      page(
        "Settle later",
        `${METHODS} They are about tokens that a call holds under an id. [\`settle\`](give-back.md#settle) ends a hold, too.`,
        {
          of: "RateLimiter",
          members: ["release", "holds"],
          types: ["HoldOptions", "HoldTerms", "SettledHold"],
        },
      ),
      page(
        "Hold a slot",
        "This is a method of the limiter that [`createRateLimiter`](createRateLimiter.md) returns. It limits how many calls run at a time.",
        {
          of: "RateLimiter",
          members: ["enter"],
        },
      ),
      page(
        "Commit together",
        `${METHODS} They take tokens in a transaction of the database, with the rows of an application.`,
        {
          of: "RateLimiter",
          members: ["transaction", "using"],
          types: ["JoinedOperations", "RateLimitOperations"],
        },
      ),
      page("Change a limit", `${METHODS} They change what a key has.`, {
        of: "RateLimiter",
        members: ["changeConfig", "credit", "observe"],
      }),
      {
        name: "overrides",
        of: "RateLimiter",
        about:
          "This is a property of the limiter that [`createRateLimiter`](createRateLimiter.md) returns.",
      },
      page("Operate", `${METHODS} They are for the people and the jobs that run it.`, {
        of: "RateLimiter",
        members: ["reset", "list", "usage", "flushUsage", "forget", "prune"],
      }),
      page(
        "Tell clients",
        "These are methods and properties of the limiter that [`createRateLimiter`](createRateLimiter.md) returns, for code that shows limits, or follows them.",
        {
          of: "RateLimiter",
          members: ["snapshots", "configOf", "limits", "clock", "onChange", "onDecision"],
        },
      ),
    ],
    Stores: [
      "prismaStore",
      "memoryStore",
      "pgStore",
      "mysqlStore",
      "sqliteStore",
      "d1Store",
      "durableStore",
      "lazyStore",
      "sqlStore",
    ],
    "Without tRPC": [
      "rateLimitResponse",
      "rateLimitHeaders",
      "ipKey",
      "betterAuthPlugin",
      "betterAuthStorage",
    ],
    "Several processes": [
      { name: "postgresChannel", types: ["ChangeChannel", "ChangeListener"] },
      "changeDigest",
    ],
    "Types that several of them need": [
      page("Calls", "How calls name a limit, a key, and a config.", {
        types: ["KeyOptions", "WithConfig", "LimitName", "TokensName", "SlotsName", "LimitConfigs"],
      }),
      page("Events", "What `onDecision` and `onBatch` are told.", {
        types: [
          "DecisionListener",
          "DecisionEvent",
          "OperatorAction",
          "BatchListener",
          "BatchEvent",
        ],
      }),
      page("SQL options", "The options that all SQL stores have.", { types: ["SqlStoreOptions"] }),
      page(
        "Database clients",
        "What stores ask of a database client. Those of the packages that a store names have it.",
        {
          types: [
            "PgPoolLike",
            "PgClientLike",
            "PgQueryable",
            "MysqlPoolLike",
            "MysqlCallbackPoolLike",
            "MysqlConnectionLike",
            "MysqlQueryable",
            "MysqlQuery",
            "BunSqlLike",
            "BunSqlReserved",
            "BunSqlExecutor",
            "BunSqlTransactionOf",
          ],
        },
      ),
      page("A store of your own", "What a limiter asks of its store.", {
        types: ["RateLimitStore", "RowId", "Call"],
      }),
      page("Decisions of a store", "What a store decides on, alone and inside a transaction.", {
        types: ["Decision", "Outcome", "PlainTake", "JoinedStore", "InsideTurn"],
      }),
      page("Overrides of a store", "What a store does for a limiter with `overrides: true`.", {
        types: ["OverrideTable", "OverrideRow"],
      }),
      page("A driver of your own", "What `sqlStore` asks of a database client.", {
        types: ["SqlDriver", "SqlConnection", "DialectName"],
      }),
      "UnsentError",
    ],
  },
  trpc: {
    "On the server": [
      "createRateLimitTRPC",
      page("rateLimited", undefined, {
        types: [
          "RateLimited",
          "RateLimitedOptions",
          "ChargeOnErrorOptions",
          "RateLimitedFirstOptions",
          "RateLimitedCall",
        ],
      }),
      page("What a procedure finds", "What `rateLimited` puts at `ctx.rateLimit`.", {
        types: ["Granted", "FirstGranted", "IdOfCall", "SlotOfCall", "SettledCounts"],
      }),
      page("router", undefined, { types: ["RateLimitRouter"] }),
      "formatRateLimitError",
      "rateLimitResponseMeta",
    ],
    "For operators": [
      page("admin", undefined, {
        types: [
          "RateLimitAdminRouter",
          "RateLimitAdminOptions",
          "AdminAuthorizeOptions",
          "AdminAction",
        ],
      }),
      page("Inputs of admin", "What the procedures of the router for operators take.", {
        types: [
          "AdminListInput",
          "AdminKeyInput",
          "AdminUsageInput",
          "AdminDenialsInput",
          "AdminTarget",
          "AdminTimedInput",
          "AdminRaiseInput",
        ],
      }),
      page("Answers of admin", "What the procedures of the router for operators resolve with.", {
        types: [
          "AdminLimits",
          "AdminLimit",
          "AdminPage",
          "AdminItem",
          "AdminKey",
          "AdminKeyLimit",
          "AdminUsage",
          "AdminDenials",
          "AdminChange",
          "AdminOverride",
        ],
      }),
    ],
    "Types that several of them need": [
      page("Keys", "Whose bucket it is.", {
        types: ["KeyAnswer", "SHARED_BUCKET", "SharedBucket"],
      }),
    ],
  },
  drizzle: { Stores: ["drizzleStore"] },
  kysely: {
    Stores: [{ name: "kyselyStore", types: ["RateLimitTable", "RateLimitOverrideTable"] }],
  },
  redis: { "On the server": ["redisStore", "redisChannel"] },
  hono: { "On the server": ["createRateLimitHono"] },
  ai: { "On the server": ["limitModel", "rateLimitErrorOf", "rateLimitOfHeaders"] },
  otel: { "On the server": ["rateLimitMetrics"] },
  client: {
    Links: ["rateLimitLink", "rateLimitRetry", "rateLimitRetryDelay", "withOnceId", "predictFirst"],
    "The observer": [
      "createRateLimitObserver",
      page("Observer", "What an observer can do.", { types: ["RateLimitObserver"] }),
      "createTRPCTransport",
      "shareStream",
      "inspectRateLimits",
    ],
    "Types that several of them need": [
      page("States", "Limits, calls and answers, as hooks, links and observers know them.", {
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
      }),
      page("Transports", "How an observer reaches the server, and where it keeps what it knows.", {
        types: ["RateLimitTransport", "WatchHandlers", "SnapshotCache"],
      }),
    ],
  },
  react: {
    "Set-up": [
      {
        name: "createRateLimitReact",
        types: ["RateLimitReactOptions", "LimitNames", "ClientWithLimits"],
      },
      { name: "RateLimitProvider", of: "createRateLimitReact" },
    ],
    Hooks: [
      { name: "useRateLimit", of: "createRateLimitReact" },
      { name: "useRateLimitedMutation", of: "createRateLimitReact" },
      "useCountdown",
      "isWaitCancelled",
    ],
    Components: [
      {
        name: "RateLimitCountdown",
        types: ["RateLimitCountdownProps", "CountdownWords", "CountdownLabels"],
      },
      { name: "RateLimitMeter", of: "createRateLimitReact" },
    ],
  },
  countdown: {},
  admin: { "A component": ["RateLimitAdmin"] },
  devtools: { "A plugin": ["rateLimitDevtools"] },
  testing: { "In tests": ["createManualClock", "createFakeRateLimits", "describeStore"] },
};

/** The members that these interfaces share with the limiter. They stand on the pages of its methods. */
export const SHARE_MEMBERS = {
  RateLimitOperations: "RateLimiter",
  JoinedOperations: "RateLimiter",
};

/** Interfaces whose other options are those of another one, which the same page shows. */
export const REST_OF = {
  FixedWindowConfig: "TokenBucketConfig",
  FakeRateLimits: "RateLimitObserver",
};

/** Types in simpler words than those that the compiler needs. */
export const SIMPLER = {
  "RateLimiterOptions.limits": "Record<string, LimitConfig>",
  "rateLimitResponse.error": "unknown",
};

/** The options of an interface, grouped by question. The others follow. */
export const OPTION_GROUPS = {
  RateLimiterOptions: {
    "To begin": ["store", "limits"],
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

/** What each entry point has. The page docs/reference.md says the same. */
export const ABOUT = {
  server: "The limiter, its stores, HTTP and better-auth",
  trpc: "The middleware, the router and the errors of tRPC",
  react: "Hooks and components",
  "trpc-rate-limit": "The options of limits, results, errors, and the arithmetic",
  client: "Links and retries of tRPC, and the observer, without React",
  testing: "A clock, limits without a server, and the tests of stores",
  drizzle: "`drizzleStore`",
  kysely: "`kyselyStore`",
  redis: "`redisStore` and `redisChannel`",
  hono: "Middleware for the routes of Hono",
  ai: "Middleware for models of the AI SDK, and header fields of providers",
  otel: "Metrics for OpenTelemetry",
  countdown: "The countdown, without tRPC and TanStack Query",
  admin: "The control room, for the people who help users",
  devtools: "A panel for TanStack Devtools",
};
