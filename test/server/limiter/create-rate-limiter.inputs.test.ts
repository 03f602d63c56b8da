/** Mistakes in the values of a call. */
import { RateLimitInputError } from "../../../server/index.js";
import {
  type Call,
  callsOf,
  config,
  everyLimiterRefuses,
  keep,
  limitAllOf,
} from "../../support/refused-calls.js";

const AFTER = "after must be the next of another page";
const long = "k".repeat(10_000);
const calls: Call[] = [
  // A config of its own does not make a name valid.
  ...["", "a\0b", "n".repeat(192)].map((name): Call => {
    return ["limit", [name, { config }], { reason: "name" }];
  }),
  ["limit", ["nope"], 'unknown rate limit "nope"'],
  ["limit", ["__proto__"], 'unknown rate limit "__proto__"'],
  ["limit", ["constructor"], 'unknown rate limit "constructor"'],
  ["charge", ["nope"], "unknown rate limit"],
  ["limitFirst", [["nope"]], 'unknown rate limit "nope"'],
  ["list", ["nope"], 'unknown rate limit "nope"'],
  ...callsOf("limit", "plan", [
    [{ key: "" }, "key must not be empty"],
    [{ key: undefined }, "key must not be undefined"],
    [{ key: long }, /^key must have at most 191.{1,170}$/],
    [{ key: 7 }, "key must be a string"],
    [{ count: -1 }, /^count must be a finite number of at least 0.{1,150}$/],
  ]),
  ["limit", ["shown", { key: "" }], "key"],
  ["forget", [undefined], "needs a key"],
  ...["", "\0", "\uD800", "a".repeat(191), 7].flatMap((once) => [
    ["limit", ["plan", { once }], "once"] as const,
    ["charge", ["plan", { once }], { reason: "once" }] as const,
  ]),
  ["limit", ["plan", { key: "k".repeat(100), once: "a".repeat(91) }], "190 characters together"],
  ["credit", ["credits", { key: "k", count: 1, once: "p".repeat(190) }], "190 characters together"],
  ...["", null].map((once): Call => {
    return ["credit", ["credits", { key: "k", count: 1, once }], { reason: "once" }];
  }),
  ["credit", ["credits", {}], "count must be a finite number"],
  ["settle", ["tokens", { key: "k" }, 1], "once must be the id of a hold"],
  ["settle", ["tokens", { key: "k", once: "a" }, -1], "count must be a finite number"],
  ["limitFirst", [["plan"], { key: undefined }], "key must not be undefined"],
  ["limitFirst", [["plan"], { count: -1 }], "count must be a finite number"],
  ...limitAllOf([
    [[{ first: ["nope"] }], 'unknown rate limit "nope"'],
    [[{ first: ["plan"], key: undefined }], "key must not be undefined"],
  ]),
  ...["", "ada", "k%", "k%00", "kada ", "k%41", `k${"a".repeat(192)}`, 7, null, {}].map(
    (after): Call => ["list", ["window", { after }], `${AFTER}, got `, { reason: "key" }],
  ),
  ...["", "x", "k%", 5, null].map((after): Call => {
    return ["list", ["window", { denied: true, after }], AFTER];
  }),
  ["observe", ["plan", { remaining: 0, key: undefined }], "key must not be undefined"],
  ["observe", ["plan", { remaining: "400" }], 'remaining must be a number of tokens, got "400"'],
  ["limit", ["tokens", { once: "a", hold: keep, count: 0 }], "count must be above 0"],
  ["enter", ["plan"], 'enter() needs the name of a limit of kind "concurrency", got "plan"'],
];

/** A limiter that is off grants them. */
const counts: Call[] = [
  ["limit", ["plan", { count: 11 }], 'count 11 can never be granted by "plan"'],
  ...["limit", "check"].map((verb): Call => {
    const told = 'count 11 can never be granted by "window": the capacity allows 10';
    return [verb, ["window", { count: 50, atLeast: 11 }], told];
  }),
  ["limit", ["never", { count: 2, reserve: true }], "count 2 can never be granted"],
  ["limit", ["shown", { count: 11 }], "can never be granted"],
  ["limit", ["stamps", { count: 11 }], "count 11 can never be granted"],
  [
    "limitFirst",
    [["plan", "daily"], { count: 19, split: true }],
    'count 19 can never be granted by "plan", "daily" together',
  ],
  ...limitAllOf([[[{ first: ["plan"], count: 11 }], 'can ever be granted by "plan"']]),
];

everyLimiterRefuses(RateLimitInputError, calls, counts);
