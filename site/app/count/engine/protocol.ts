/**
 * The messages between the page, which has the table, and a process, which runs a visitor's code. All
 * messages are texts, so that no object of that code reaches the page. The page believes no message: it
 * checks the shape, the types and the sizes of each one.
 */

/** The bounds of a run. A run that passes one of them is stopped. */
export const MOST = {
  /** The letters of the code. */
  code: 8_000,
  /** The letters of a message. */
  message: 200_000,
  /** The letters of a value of the table, as JSON. */
  value: 1_000,
  /** The letters of a key of the table. */
  key: 200,
  /** The letters of an error. */
  problem: 200,
  /** The statements of a run. */
  ops: 2_000,
  /** The statements that a process sends in one step. */
  opsAtOnce: 200,
} as const;

export const OP_KINDS = ["get", "set", "increment", "expire", "update", "sleep"] as const;
export type OpKind = (typeof OP_KINDS)[number];

/** A statement on its way to the table. A `sleep` goes to no table, and is answered after a time. */
export interface Op {
  /** Unique in its process. */
  id: number;
  /** The call that sends it, from 0; -1 if that is not known. */
  call: number;
  kind: OpKind;
  keys: string[];
  /** What `set` writes, as JSON. */
  value: string | null;
  /** What `increment` adds, the s of `expire`, or the ms of `sleep`. */
  amount: number;
}

export interface Ended {
  call: number;
  outcome: "granted" | "denied" | "failed";
  /** Why the call failed, or `""`. */
  problem: string;
}

/** `now` is the time of the run, ms. Values are JSON; `null` stands for a key that does not exist. */
export type ToProcess =
  | { type: "load"; code: string; seed: number }
  | { type: "start"; call: number; now: number }
  | { type: "answer"; id: number; value: string | null; problem: string; now: number }
  /** The process computes at once what its statement writes: nothing happens meanwhile. */
  | { type: "apply"; id: number; values: (string | null)[]; now: number }
  | { type: "collect" };

export type FromProcess =
  | { type: "loaded"; problem: string }
  /** `null`: the statement has thrown, and writes nothing. */
  | { type: "applied"; values: (string | null)[] | null }
  /** What the process has done since it was asked before. */
  | { type: "events"; ops: Op[]; ended: Ended[] };

type Fields = Record<string, unknown>;

const isText = (value: unknown, most: number): value is string =>
  typeof value === "string" && value.length <= most;
const isValue = (value: unknown) => value === null || isText(value, MOST.value);
const isListOf = (value: unknown, most: number, isItem: (item: unknown) => boolean) =>
  Array.isArray(value) && value.length <= most && value.every(isItem);
const isCall = (value: unknown) => Number.isSafeInteger(value);

function fieldsOf(value: unknown, names: readonly string[]): Fields | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const own = Object.keys(value);
  return own.length === names.length && names.every((name) => own.includes(name))
    ? (value as Fields)
    : undefined;
}

function isOp(value: unknown): boolean {
  const op = fieldsOf(value, ["id", "call", "kind", "keys", "value", "amount"]);
  return (
    op !== undefined &&
    Number.isSafeInteger(op["id"]) &&
    isCall(op["call"]) &&
    OP_KINDS.some((kind) => kind === op["kind"]) &&
    isListOf(op["keys"], 8, (key) => isText(key, MOST.key)) &&
    // All statements but `sleep` have a key.
    (op["kind"] === "sleep" || (op["keys"] as string[]).length > 0) &&
    isValue(op["value"]) &&
    Number.isFinite(op["amount"])
  );
}

function isEnded(value: unknown): boolean {
  const ended = fieldsOf(value, ["call", "outcome", "problem"]);
  return (
    ended !== undefined &&
    isCall(ended["call"]) &&
    ["granted", "denied", "failed"].includes(ended["outcome"] as string) &&
    isText(ended["problem"], MOST.problem)
  );
}

/** @returns `undefined` for anything that is no message of a process. */
export function readMessage(data: unknown): FromProcess | undefined {
  if (!isText(data, MOST.message)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(data);
  } catch {
    return undefined;
  }
  const loaded = fieldsOf(parsed, ["type", "problem"]);
  const applied = fieldsOf(parsed, ["type", "values"]);
  const events = fieldsOf(parsed, ["type", "ops", "ended"]);
  const isMessage =
    (loaded?.["type"] === "loaded" && isText(loaded["problem"], MOST.problem)) ||
    (applied?.["type"] === "applied" &&
      (applied["values"] === null || isListOf(applied["values"], 8, isValue))) ||
    (events?.["type"] === "events" &&
      isListOf(events["ops"], MOST.opsAtOnce, isOp) &&
      isListOf(events["ended"], 100, isEnded));
  return isMessage ? (parsed as FromProcess) : undefined;
}
