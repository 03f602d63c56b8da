/** Options of a call that do not exist, or that do not go with each other or with their limit. */
import { HOUR, RateLimitConfigError } from "../../../server/index.js";
import {
  type Call,
  callsOf,
  config,
  everyLimiterRefuses,
  keep,
  limitAllOf,
  limits,
} from "../../support/refused-calls.js";

const ofLimit = "key, plan, config, count, atLeast, reserve, throws, once, hold, context";
const uses: [verb: string, use: string][] = [
  ["limit", ofLimit],
  ["check", ofLimit],
  ["reset", "key, plan, config"],
  ["refund", "key, plan, config, count, result"],
  ["getValue", "key, plan, config"],
  ["acquire", "key, plan, config, count, maxWait, signal, once, hold, context"],
];
type Inside = Record<string, (...args: unknown[]) => Promise<unknown>>;

const calls: Call[] = [
  ...uses.flatMap(([verb, use]): Call[] => {
    const args = ["plan", { ky: "a" }];
    const message = `ky is not an option of ${verb}(), got "a"; use ${use}`;
    const misspelt: Call = [verb, args, { option: "ky", value: "a", message }];
    if (verb === "acquire") return [misspelt];
    return [misspelt, ["transaction", [(inside: Inside) => inside[verb]!(...args)], message]];
  }),
  ...["ada", 0, null].map((value): Call => {
    const told = `the options of limit() must be an object, got ${JSON.stringify(value)}`;
    return ["limit", ["plan", value], told];
  }),
  ["limit", ["oneOff", { config: { ...config, period: 0 } }], "period"],
  ["limit", ["plan", { config: { ...config, rate: -1 } }], "rate"],
  ["limit", ["plan", { keys: "a" }], "keys"],
  ["charge", ["plan", { cuont: 3 }], "cuont"],
  [
    "limitAll",
    [[{ name: "plan", ky: "a" }]],
    'ky is not an option of an item of limitAll(), got "a"; use name, key, plan, config, count, reserve',
  ],
  [
    "limitAll",
    [[{ name: "plan" }], { throw: true }],
    "throw is not an option of limitAll(), got true; use throws",
  ],
  ["list", ["window", { key: "a" }], "key is not an option of list()"],
  ...[0, -1, 1.5, 1001, NaN, "9"].map((count): Call => {
    return ["list", ["window", { count }], { option: "count" }];
  }),
  ["list", ["window", { denied: "yes" }], 'denied must be a boolean, got "yes"'],
  ["acquire", ["plan", { maxWait: NaN }], "maxWait must be a number of ms, got NaN"],
  ["limitAll", [[{ name: "window", count: 5, atLeast: 1 }]], "atLeast is not an option of"],
  ["limitFirst", [[{ name: "window", count: 5, atLeast: 1 }]], "atLeast is not an option of"],
  ["acquire", ["window", { count: 5, atLeast: 1 }], "atLeast is not an option of"],
  ["charge", ["window", { count: 5, atLeast: 1 }], "atLeast is not an option of"],
  ...callsOf("limit", "tokens", [
    [{ hold: keep }, "hold needs once"],
    [{ once: "a", hold: true }, "hold must be an object"],
    [{ once: "a", hold: { ...keep, ttl: 1 } }, "hold.ttl is not an"],
    [{ once: "a", hold: { ...keep, for: undefined } }, "hold.for must be a whole"],
    [{ once: "a", hold: { for: 1 } }, 'hold.then must be "keep" or'],
  ]),
  ["limit", ["member", { once: "a", hold: keep }], '"member" has no holds: add'],
  [
    "limit",
    ["short", { once: "a", hold: { ...keep, for: HOUR } }],
    'at most the onceFor of "short", which is 60000',
  ],
  ["settle", ["member", { key: "k", once: "a" }, 1], '"member" has no holds: add'],
  ["release", [[], { key: "k", once: "a" }], "at least one limit"],
  ["limitFirst", [[]], "limitFirst() needs a list of at least one limit"],
  ["limitFirst", ["plan"], "limitFirst() needs a list"],
  ["limitFirst", [["plan"], { reserve: true }], "reserve is not an option"],
  [
    "limitFirst",
    [[{ name: "plan", count: 2 }], { split: true }],
    "count of an item does not go with split",
  ],
  ...limitAllOf([
    [[{ first: [] }], "first needs a list of at least one limit"],
    [[{ first: "plan" }], "first needs a list of at least one limit"],
    [[{ first: ["plan"], name: "plan" }], "name is not an option of a first of limitAll()"],
    [[{ first: ["plan"], reserve: true }], "reserve is not an option of a first of limitAll()"],
    [[{ first: [{ name: "plan", split: true }] }], "split is not an option of an item of first"],
    [[{ first: ["plan", "plan"] }], '"plan" is there twice with one key'],
    [[{ name: "plan" }, { first: ["plan"] }], '"plan" is there twice with one key'],
    [[{ first: ["plan"] }, { first: ["plan"] }], '"plan" is there twice with one key'],
    [[{ first: ["plan", "member"] }], '"member" has no holds', { once: "a", hold: keep }],
    [[{ first: ["member"] }], '"member" has no holds', { once: "a", hold: keep }],
    [
      [{ first: ["plan"] }, { first: ["credits"] }],
      "hold goes with one first at most, got 2",
      { once: "a", hold: keep },
    ],
  ]),
  ["limit", ["credits", { reserve: true }], "reserve does not go with the credits"],
  ["acquire", ["credits"], "use limit() without reserve, also in place of acquire()"],
  ["reset", ["credits"], "use credit() to add, charge() to take, and forget(key)"],
  [
    "credit",
    ["plan", { count: 1 }],
    'credit() does not go with "plan", which is of kind "token bucket"',
  ],
  [
    "limit",
    ["credits", { config }],
    'config.kind of a call on "credits" must be "credits", got "token bucket"',
  ],
  [
    "limit",
    ["plan", { config: { kind: "credits" } }],
    'config.kind of a call on "plan" must not be "credits"',
  ],
  ...["limit", "acquire", "charge", "refund"].map((verb): Call => {
    const told = '"jobs" is of kind "concurrency", which has slots and no tokens; use enter()';
    return [verb, ["jobs"], told];
  }),
  ["limitAll", [[{ name: "jobs" }]], "use enter()"],
  ["limit", ["plan", { config: limits.jobs }], "use enter()"],
  ["enter", ["jobs", { count: 2 }], "count is not an option of enter()"],
  ...callsOf("observe", "plan", [
    [{ remaining: 0, retryAfter: "20s" }, 'retryAfter must be a number of ms, got "20s"'],
    [{ remaining: 0, resetAt: new Date(0) }, "resetAt must be a number of ms, got an object"],
    [{ remaining: 0, resetAt: 1, retryAfter: 1 }, "leave one of them out"],
    [{ remaining: 0, left: 3 }, "left is not an option of observe()"],
  ]),
  ["observe", ["credits", { remaining: 1 }], 'does not go with the credits of "credits"'],
  ["observe", ["jobs", { remaining: 1 }], '"jobs" is of kind "concurrency"'],
  ["limitFirst", [["plan", "plan"]], '"plan" is there twice with one key'],
];

/** A limiter that is off passes them. */
const unlessOff: Call[] = [
  ["limit", ["sharded", { once: "a" }], "shards"],
  ["limitAll", [[{ name: "sharded" }], { once: "a" }], "shards"],
  ["limitFirst", [["shown", "plan"]], '"shown", which is a shadow'],
  ...limitAllOf([
    [[{ first: ["shown"] }], 'first cannot ask "shown", which is a shadow'],
    [[{ first: ["sharded"] }], "once does not go with shards", { once: "a" }],
  ]),
];

everyLimiterRefuses(RateLimitConfigError, calls, unlessOff);
everyLimiterRefuses(
  Error,
  ["limit", "check"].flatMap((verb) =>
    callsOf(verb, "window", [
      [{ count: 5, atLeast: 0 }, "atLeast must be a finite number above 0, got 0"],
      [{ count: 5, atLeast: NaN }, "atLeast must be a finite number above 0, got NaN"],
      [{ count: 5, atLeast: "1" }, "atLeast must be a finite number above 0, got string"],
      [{ count: 5, atLeast: undefined }, "atLeast must be a finite number above 0, got undefined"],
      [
        { count: 5, atLeast: 6 },
        "atLeast must be at most the count of the call, which is 5, got 6",
      ],
      [{ atLeast: 2 }, "atLeast must be at most the count of the call, which is 1, got 2"],
      [{ count: Infinity, atLeast: 1 }, "count must be a finite number of at least 0"],
      [{ count: 5, atLeast: 1, reserve: true }, "atLeast does not go with reserve, got 1"],
      [{ count: 5, atLeast: 1, once: "a", hold: keep }, '"window" has no holds'],
    ]),
  ),
);
