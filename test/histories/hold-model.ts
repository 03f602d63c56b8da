/**
 * The calls of a history of holds, and the serial model of an id. The instant at which a hold lapses is
 * known only within the interval of its call. So a call near that instant may have found the hold open or
 * over.
 */
import type { HoldEnd } from "../../core/rows/marker.js";
import type { HoldTerms } from "../../server/limiter/types/hold-terms.js";

/** The action of a call. */
export type HoldAction =
  /** A repeat of the hold settles its result by `repeat`, which ends nothing. */
  | { kind: "hold"; count: number; terms: HoldTerms; repeat?: number | undefined }
  /** Takes tokens without a hold. Its id belongs to this call alone. */
  | { kind: "take"; count: number }
  | { kind: "settle"; actual: number }
  | { kind: "release" };

export interface HoldAnswer {
  ok: boolean;
  /** For a call that ends a hold: the tokens that were held. */
  count?: number | undefined;
  /** For a call that ends nothing: why. */
  reason?: HoldEnd | "unknown" | undefined;
  /** For a call whose id was charged before: `true`. */
  repeated?: boolean | undefined;
}

export interface HoldCall {
  name: string;
  key: string;
  id: string;
  action: HoldAction;
  /** The time of the call, ms of a clock that all processes share. */
  start: number;
  /** The time of the answer. `Infinity`: it takes effect at any time after `start`, or never. */
  end: number;
  answer?: HoldAnswer | undefined;
}

/** The state of an id: its hold or its end, and how many tokens the id has cost. */
export interface IdState {
  charged: number;
  open?:
    { count: number; then: HoldTerms["then"]; lapsesFrom: number; lapsesTo: number } | undefined;
  end?: HoldEnd | undefined;
}

export interface HoldStep {
  answer: HoldAnswer;
  next: IdState;
}

export const UNUSED: IdState = { charged: 0 };

/** The state after the hold has lapsed. */
export function lapsed({ charged, open }: IdState): IdState {
  if (open!.then === "keep") return { charged, end: "kept" };
  return { charged: charged - open!.count, end: "given back" };
}

/**
 * All answers that a call may have, each with the state after it.
 *
 * @param clockError how far the time of a decision may be from the clock of the calls, ms.
 */
export function stepsOf(state: IdState, call: HoldCall, clockError: number): HoldStep[] {
  const { open } = state;
  if (open === undefined) return stepsWithout(state, call, clockError);
  const mayBeOpen = call.start - clockError < open.lapsesTo;
  const mayBeOver = call.end + clockError >= open.lapsesFrom;
  return [
    ...(mayBeOpen ? stepsWith(state, call) : []),
    ...(mayBeOver ? stepsWithout(lapsed(state), call, clockError) : []),
  ];
}

/** After this time, ms, a call may have tried again, and have found the effect of its own first try. */
const FIRST_PAUSE = 50;

function stepsWith(state: IdState, { action, start, end: endedAt }: HoldCall): HoldStep[] {
  const { count } = state.open!;
  if (action.kind === "hold" || action.kind === "take") {
    return [{ answer: { ok: true, repeated: true }, next: state }];
  }
  const used = action.kind === "settle" ? action.actual : 0;
  const end = used === 0 ? "released" : "settled";
  const next: IdState = { charged: state.charged + used - count, end };
  const own = { answer: { ok: true, count }, next };
  const again = { answer: { ok: false, reason: end }, next } as const;
  return endedAt - start >= FIRST_PAUSE ? [own, again] : [own];
}

function stepsWithout(state: IdState, call: HoldCall, clockError: number): HoldStep[] {
  const { action, start, end } = call;
  if (action.kind === "settle" || action.kind === "release") {
    return [{ answer: { ok: false, reason: state.end ?? "unknown" }, next: state }];
  }
  if (state.end === "settled" || state.end === "kept") {
    return [{ answer: { ok: true, repeated: true }, next: state }];
  }
  const charged = state.charged + action.count;
  const denied = { answer: { ok: false }, next: state };
  if (action.kind === "take") return [denied, { answer: { ok: true }, next: { charged } }];
  const { count, terms } = action;
  const lapsesFrom = start + terms.for - clockError;
  const lapsesTo = end + terms.for + clockError;
  const open = { count, then: terms.then, lapsesFrom, lapsesTo };
  return [denied, { answer: { ok: true }, next: { charged, open } }];
}
