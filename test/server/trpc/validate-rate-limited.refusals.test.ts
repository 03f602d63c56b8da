/** What is wrong with a router or with a middleware is found where it is made. */
import { initTRPC } from "@trpc/server";
import { describe } from "vitest";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { itThrows, type Refusal, wrong } from "../../support/refusals.js";

const one = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const limits = {
  one,
  two: one,
  member: { ...one, holds: true },
  plan: { kind: "fixed window", rate: 10, period: MINUTE, start: 0, holds: true },
  credits: { kind: "credits", holds: true },
  shown: { ...one, shadow: true },
  wide: { ...one, shards: 4 },
  logIn: { ...one, blockFor: MINUTE },
  jobs: { kind: "concurrency", slots: 1 },
} as const;
const limiter = createRateLimiter({ store: memoryStore(), limits });
const none = createRateLimiter({ store: memoryStore(), limits: {} });
const planned = createRateLimiter({
  store: memoryStore(),
  plans: ["free"],
  limits: { send: { kind: "token bucket", period: MINUTE, plans: { free: 1 } } },
});
const admin = { authorize: () => true };
const t = initTRPC.create();
const made = (options: object) => () =>
  createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter, ...options });

describe("createRateLimitTRPC", () => {
  const KEY =
    /key must be a function .* takes from, such as \(\{ ctx \}\) => ctx.userId, or SHARED_B/;
  itThrows(Error, [
    [made({ limiter: none }), "the limiter has no limits; name at least one in createRateLimiter("],
    ...wrong("interval", [0, -1, NaN], made, "interval must be a number of ms above 0"),
    ...wrong("keyInterval", [0, -1, NaN], made, "keyInterval must be a number of ms above 0"),
    ...wrong("maxStreams", [0, 1.5, NaN], made, "maxStreams must be a whole number of at least 1"),
    ...wrong("key", ["ada", undefined, null], made, KEY),
    [
      made({ athorize: true }),
      "athorize is not an option of createRateLimitTRPC(), got true; use t, ",
    ],
    [made({ athorize: true }), "use t, limiter, key,"],
    [made({ limiter: planned }), '"send" has plans, and nothing says the plan of a request: give '],
    [
      made({ limiter: planned }),
      "give createRateLimitTRPC() the option plan, or give it to create",
    ],
    [made({ limiter: planned, plan: "free" }), 'plan must be a function, got "free"'],
    [
      made({ plan: () => "free" }),
      "plan of createRateLimitTRPC() is for limits with plans, and its ",
    ],
    [made({ plan: () => "free" }), "and its limits have none"],
    [made({ admin: { actor: () => "ada" } }), "admin.authorize must be a function"],
    [made({ admin: { ...admin, actor: "ada" } }), "admin.actor"],
    [made({ admin: { ...admin, who: 1 } }), "who"],
  ]);
});

/** In plain JavaScript, no compiler checks what is passed. */
const { rateLimited } = made({})() as unknown as {
  rateLimited: Record<"first" | "transaction", (...args: unknown[]) => unknown> &
    ((...args: unknown[]) => unknown);
};
type Row = [names: unknown, options: object, ...told: string[]];
const rows =
  (make: (...args: unknown[]) => unknown) =>
  ([names, options, ...told]: Row): Refusal => [() => make(names, options), ...told];
const hold = { for: MINUTE, then: "release" };
const COUNT = "count must be a finite number of at least 0, got undefined";
const ofOne: [options: object, told: string][] = [
  [{ ky: "a" }, 'ky is not an option of rateLimited(), got "a"; use key, count, plan, config, '],
  [{ ky: "a" }, "config, reserve, maxWait, holder, once, hold, on, resetOnSuccess"],
  [{ on: "failure" }, 'be "call", "success", "error" or a function of the error, got "failure"'],
  [{ key: null }, "key must be a string, got null"],
  [{ key: "" }, "key must not be empty"],
  [{ count: -1 }, "count must be a finite number of at least 0"],
  [{ count: "2" }, "count must be a finite number"],
  [{ count: undefined }, COUNT],
  [{ config: { rate: 1, period: 1 } }, "config.kind must be"],
  [{ plan: "pro" }, "plan of rateLimited() is for limits with plans, and its limits have none; "],
  [{ plan: "pro" }, "its limits have none; leave it out"],
  [{ reserve: 1 }, "reserve must be a boolean, got 1"],
  [{ resetOnSuccess: "yes" }, 'resetOnSuccess must be a boolean, got "yes"'],
  [{ once: "a" }, "once must be a function"],
  [{ hold }, '"one" has no holds: add holds: true'],
];

describe("rateLimited", () => {
  const refused: Row[] = [
    ["typo", {}, 'the limiter has no limit "typo"; add it to its limits'],
    [["one", "typo"], {}, 'the limiter has no limit "typo"'],
    ["toString", {}, 'the limiter has no limit "toString"'],
    [undefined, {}, "rateLimited() needs the name of at least one limit"],
    [[], {}, "rateLimited() needs the name of at least one limit"],
    ...ofOne.map(([options, told]): Row => ["one", options, told]),
    [["one", "two"], { count: undefined }, COUNT],
    [["one", "wide"], { once: () => "a" }, 'once does not go with shards, and "wide" has them'],
    ["jobs", { hold }, "hold is for limits of tokens"],
    ["member", { hold: { for: 1 } }, "hold.then must"],
    ["credits", { resetOnSuccess: true }, 'resetOnSuccess does not go with the credits "credits"'],
    [["plan", "credits"], { reserve: true }, 'reserve does not go with the credits "credits"'],
    [[{ first: [] }], {}, "first needs a list of at least one limit, got an empty list"],
    [[{ first: "plan" }], {}, 'first needs a list of at least one limit, got "plan"'],
    [[{ first: ["typo"] }], {}, 'the limiter has no limit "typo"'],
    [[{ first: ["plan"], count: 2 }], {}, "count is not an option of a first of rateLimited()"],
    [[{ first: ["plan"], split: 1 }], {}, "split must be a boolean, got 1"],
    [["plan", { first: ["plan"] }], {}, "rateLimited() charges each limit once"],
    [[{ first: ["shown", "plan"] }], {}, 'first cannot ask "shown", which is a shadow'],
    [[{ first: ["jobs", "plan"] }], {}, 'first cannot ask "jobs", which has slots and no tokens'],
    [[{ first: ["plan"] }], { reserve: true }, "reserve does not go with a first"],
    [[{ first: ["plan"] }], { resetOnSuccess: true }, "resetOnSuccess does not go with a first"],
    [[{ first: ["plan", "one"] }], { hold }, '"one" has no holds'],
    [[{ first: ["one"] }, "shown"], { hold }, '"one" has no holds'],
    [[{ first: ["plan"] }, { first: ["credits"] }], { hold }, "hold goes with one first at most"],
  ];
  itThrows(Error, refused.map(rows(rateLimited)));
});

describe("rateLimited.first", () => {
  const refused: Row[] = [
    ["plan", {}, 'rateLimited.first() needs a list of limits, got "plan"'],
    [[], {}, "needs the name of at least one limit"],
    [["plan", "plan"], {}, "charges each limit once"],
    [["shown", "credits"], {}, '"shown", which is a shadow'],
    [["plan"], { reserve: true }, "reserve is not an option"],
    [["plan"], { split: 1 }, "split must be a boolean, got 1"],
    [["one", "two"], { count: undefined }, COUNT],
    [["plan", "one"], { hold }, '"one" has no holds'],
  ];
  itThrows(Error, refused.map(rows(rateLimited.first)));
});

describe("rateLimited.transaction", () => {
  const BLOCK = 'rateLimited.transaction() cannot charge "logIn"';
  const ON =
    'on is not an option of rateLimited.transaction(), got "error"; use key, count, plan, ';
  const refused: Row[] = [
    [[], {}, "rateLimited() needs the name of at least one limit"],
    ["one", { on: "error" }, ON, "use key, count, plan, config, reserve"],
    // The transaction would undo the block.
    ["logIn", {}, BLOCK],
    [["one", "logIn"], {}, BLOCK],
    ["one", { config: { ...one, blockFor: MINUTE } }, 'cannot charge "one"'],
  ];
  itThrows(Error, refused.map(rows(rateLimited.transaction)));
});
