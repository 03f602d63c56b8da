/** The pages of `trpc-rate-limit/server`. */
import type { Page, Sections } from "./sections.js";

const LIMITER = "the limiter that [`createRateLimiter`](createRateLimiter.md) returns";

const methods = (title: string, about: string, members: string[], types?: string[]): Page => ({
  title,
  about: `These are methods of ${LIMITER}. They ${about}`,
  of: "RateLimiter",
  members,
  types,
});

export const SERVER: Sections = {
  "The limiter": [
    { main: "createRateLimiter", types: ["RateLimiter", "RateLimiterOptions", "PlanOption"] },
    methods(
      "Take tokens",
      "take tokens, or look at them. A name that is not among its limits needs a `config`; see [`WithConfig`](calls.md#withconfig).",
      ["limit", "check", "getValue", "acquire"],
    ),
    methods(
      "Several at once",
      "decide about several limits in one step.",
      ["limitAll", "limitFirst"],
      ["LimitAllItem", "LimitAllFirst", "LimitAllOptions", "LimitFirstOptions"],
    ),
    methods("Give back", "correct what a call has taken.", ["refund", "settle", "charge"]),
    methods(
      "Settle later",
      "are about tokens that a call holds under an id. [`settle`](give-back.md#settle) ends a hold, too.",
      ["release", "holds"],
      ["HoldOptions", "HoldTerms", "SettledHold"],
    ),
    {
      title: "Hold a slot",
      about: `This is a method of ${LIMITER}. It limits how many calls run at a time.`,
      of: "RateLimiter",
      members: ["enter"],
    },
    methods(
      "Commit together",
      "take tokens in a transaction of the database, with the rows of an application.",
      ["transaction", "using"],
      ["JoinedOperations", "RateLimitOperations"],
    ),
    methods("Change a limit", "change what a key has.", ["credit", "observe"]),
    {
      title: "overrides",
      about: `This is a property of ${LIMITER}.`,
      of: "RateLimiter",
      members: ["overrides"],
    },
    methods(
      "Plans",
      "are about who may how much.",
      ["plans", "planChanged"],
      ["PlannedConfig", "PlanEntries", "PlanTerms", "PlanRate", "PlanTable", "PlanQuestion"],
    ),
    methods("Operate", "are for the people and the jobs that run it.", [
      "reset",
      "list",
      "usage",
      "topUsage",
      "usageChanges",
      "flushUsage",
      "forget",
      "prune",
    ]),
    methods(
      "Warn",
      "tell that so much of a limit is used.",
      ["onWarning", "warnings"],
      ["RateLimitWarning", "WarningListener"],
    ),
    {
      title: "Tell clients",
      about: `These are methods and properties of ${LIMITER}, for code that shows limits, or follows them.`,
      of: "RateLimiter",
      members: ["snapshots", "configOf", "limits", "clock", "onChange", "onDecision"],
    },
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
    {
      main: "createRateLimitHandler",
      types: [
        "RateLimitHandlerOptions",
        "RateLimitHandler",
        "HandlerCaller",
        "HandlerKeyOptions",
        "HandlerPlanOptions",
        "HandlerAuthorizeOptions",
      ],
    },
    { main: "toNodeHandler", types: ["NodeListener", "NodeRequest", "NodeResponse"] },
    "rateLimitResponse",
    "rateLimitHeaders",
    { main: "clientAddress", types: ["RequestHeaders"] },
    "ipKey",
    "betterAuthPlugin",
    "betterAuthStorage",
  ],
  "Several processes": [
    { main: "postgresChannel", types: ["ChangeChannel", "ChangeListener", "MessageListener"] },
    "changeDigest",
  ],
  "Types that several of them need": [
    {
      title: "Calls",
      about: "How calls name a limit, a key, and a config.",
      types: ["KeyOptions", "WithConfig", "LimitName", "TokensName", "SlotsName", "LimitConfigs"],
    },
    {
      title: "Events",
      about: "What `onDecision` and `onBatch` are told.",
      types: ["DecisionListener", "DecisionEvent", "OperatorAction", "BatchListener", "BatchEvent"],
    },
    {
      title: "SQL options",
      about: "The options that all SQL stores have.",
      types: ["SqlStoreOptions"],
    },
    {
      title: "Database clients",
      about:
        "What stores ask of a database client. Those of the packages that a store names have it.",
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
    {
      title: "A store of your own",
      about: "What a limiter asks of its store.",
      types: ["RateLimitStore", "RowId", "Call"],
    },
    {
      title: "Decisions of a store",
      about: "What a store decides on, alone and inside a transaction.",
      types: ["Decision", "Outcome", "PlainTake", "JoinedStore", "InsideTurn"],
    },
    {
      title: "Overrides of a store",
      about: "What a store does for a limiter with `overrides: true`.",
      types: ["OverrideTable", "OverrideRow"],
    },
    {
      title: "A driver of your own",
      about: "What `sqlStore` asks of a database client.",
      types: ["SqlDriver", "SqlConnection", "DialectName"],
    },
    "UnsentError",
  ],
};
