/** Inputs of operators that are refused, by verb, and that change nothing. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR, memoryStore, MINUTE } from "../../../../server/index.js";
import { openAdmin } from "../../../support/admin-caller.js";
import { plannedLimits, plans } from "../../../support/planned-limits.js";

const bucket = { kind: "token bucket", rate: 2, period: DAY } as const;
const limits = {
  bucket,
  counted: { ...bucket, usage: true },
  huge: { ...bucket, rate: 1e307 },
  credits: { kind: "credits" },
  slots: { kind: "concurrency", slots: 1 },
} as const;
type Row = [verb: string, input: object, message?: string];

const ada = { name: "bucket", key: "ada" };
const day = { from: 20_000 * DAY, to: 20_001 * DAY };
const SLOTS = 'changes a limit of tokens, and "slots" has slots; "reset" frees all slots of a key';
const of = (verb: string, base: object, inputs: object[]) =>
  inputs.map((input): Row => [verb, { ...base, ...input }]);

const refused: Row[] = [
  ...["ban", "exempt", "clear", "reset"].flatMap((verb) =>
    of(verb, { name: "bucket" }, [
      {},
      { key: undefined },
      { all: false },
      { key: "ada", all: true },
      { key: "" },
    ]),
  ),
  ...["ban", "exempt", "raise", "clear"].map((verb): Row => {
    const times = verb === "raise" ? { times: 2 } : {};
    return [verb, { name: "slots", key: "ada", ...times }, `"${verb}" ${SLOTS}`];
  }),
  ["reset", { name: "credits", key: "ada" }, "limiter.credit()"],
  ...of("raise", { ...ada, times: 2 }, [
    ...[0, -1, 1.5, 3650 * DAY + 1, Infinity, "3600000"].map((ms) => ({ for: ms })),
    ...[0, -2, NaN, Infinity, 1e7, undefined].map((times) => ({ times })),
    { until: 1 },
  ]),
  ["raise", { name: "huge", key: "ada", times: 1000 }, "times 1000"],
  ["give", { ...ada, add: 1, until: 8e15, for: 5 }, "give for or until, not both"],
  ["give", { ...ada, add: 1, until: 1 }, "until must be still to come"],
  ["give", { ...ada, add: 0 }, "Too small"],
  ["give", { ...ada, add: 1, why: "x".repeat(201) }, "Too big"],
  ["give", { ...ada, name: "slots", add: 1 }, '"slots" has slots'],
  ["give", { ...ada, name: "credits", add: 1 }, "limiter.credit()"],
  ...["bucket", "slots"].flatMap((name) =>
    ["x", "", "k%", "k\0", "r2", `k${"%F0%9F%A7%80".repeat(200)}`, 5].map((after): Row => [
      "list",
      { name, after },
    ]),
  ),
  ...[0, -1, 201, 1.5, Infinity, "10"].flatMap((count): Row[] => [
    ["list", { name: "bucket", count }],
    ["denials", { count }],
  ]),
  ["denials", { name: "wrong" }],
  ...of("top", { ...day, by: "taken" }, [
    { name: "wrong" },
    { name: "toString" },
    { from: 5, to: 5 },
    { from: 0.5, to: 5 },
    { by: "granted" },
    { by: undefined },
    { count: 0 },
    { count: 201 },
    { from: 0, to: Number.MAX_VALUE },
    { key: "ann" },
  ]),
  ...["counted", "bucket"].flatMap((name) =>
    of("usage", { name }, [
      { from: "yesterday", to: 5 },
      { from: 0.5, to: 5 },
      { from: 5, to: 5 },
      { from: 0, to: 50_001 * HOUR },
      { from: 0, to: DAY, every: MINUTE + 1 },
      { from: 0, to: Number.MAX_VALUE },
      { from: 0, to: Infinity },
      { from: 0, to: 5, key: "ada" },
    ]),
  ),
];
const ofPlans: Row[] = [
  ["plan", { key: "ada", name: "pictures", plan: "por" }, 'plan must be one of "free", "pro"'],
  ["plan", { key: "ada", plan: "por" }, 'plan must be one of "free", "pro"'],
  ["plan", { key: "ada", name: "signUp", plan: "pro" }, '"signUp" has no plans'],
  ["plan", { key: "ada", name: "jobs", plan: "pro" }, '"jobs" has slots'],
  ["plan", { key: "ada", name: "pcitures", plan: "pro" }, "There is no such rate limit"],
  ["plan", { key: "ada", name: "pictures" }],
  ["plan", { key: "ada", plan: "pro", all: true }, "give a key"],
  ["plan", { key: undefined, plan: "pro" }, "give a key"],
  ["plan", { key: "ada", plan: "pro", for: 0 }],
];
const withoutPlans: Row[] = [
  ["plan", { key: "ada", plan: "pro" }, "No rate limit has plans that a key could be given"],
];

describe.each([
  ["an operator", limits, {}, refused],
  ["an operator of plans", plannedLimits, { plans }, ofPlans],
  ["an operator where no limit has plans", { signUp: bucket }, {}, withoutPlans],
] as [string, typeof limits, object, Row[]][])("%s", (_title, all, options, rows) => {
  it.each(rows)("is refused: %s of %j", async (verb, input, message = "") => {
    const { limiter, heard, admin } = openAdmin(memoryStore(), all, options);
    const verbs = admin as unknown as Record<string, (given: object) => Promise<unknown>>;
    await expect(verbs[verb]!(input)).rejects.toMatchObject({
      code: "BAD_REQUEST",
      message: expect.stringContaining(message),
    });
    expect(await limiter.overrides.list()).toEqual([]);
    expect(heard).toEqual([]);
  });
});
