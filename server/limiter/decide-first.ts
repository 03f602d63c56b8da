/**
 * The decision of `limitFirst`: which limits pay for a call, and how much each. It closes no bucket
 * (`blockFor`), because the call may pass by another limit.
 */
import { heldAt, type RateLimitState, shortestWait } from "../../core/calculate.js";
import { longestPeriod, MAX_RETRY_AFTER, toleranceOf } from "../../core/config.js";
import { isSatisfiable, mostHeld } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import { type Purse, sharesOf } from "../../core/shares.js";
import type { Decision, RowId } from "../store/store.js";
import { chooseRows } from "./choose-shards.js";
import type { Environment } from "./context.js";
import { decideRequest } from "./decide-request.js";
import type { LimitRequest } from "./limit-request.js";

export interface FirstDecided {
  ok: boolean;
  /** The requests that were asked, in order; of a denied call, all of them. */
  asked: readonly Asked[];
  /** Whole ms until the call would pass; 0 where it passed. */
  retryAfter: number;
  now: number;
}

export interface Asked {
  result: RateLimitResult;
  /** Tokens that it gave; `undefined` for one that does not pay. */
  paid?: number | undefined;
}

interface Answer extends Asked {
  next: readonly (RateLimitState | undefined)[];
}

type States = readonly (RateLimitState | null)[];

/** @param split the tokens that the limits give together; `undefined` where one pays for all. */
export function decideFirst(
  requests: readonly LimitRequest[],
  split: number | undefined,
  { clock, random }: Pick<Environment, "clock" | "random">,
): Decision<FirstDecided> {
  let offset = 0;
  const steps = requests.map((request) => {
    const step = new Step(request, chooseRows(request.limit, random), offset);
    offset += step.rows.length;
    return step;
  });

  return {
    rows: steps.flatMap(({ rows }) => rows),
    decide(states) {
      const now = clock();
      const asked =
        split === undefined
          ? askInTurn(steps, states, now)
          : askTogether(steps, states, now, split);
      const ok = asked.at(-1)!.paid !== undefined;
      if (!ok) {
        const waits = asked.map(({ result: { retryAfter = 0 } }) => retryAfter);
        const retryAfter =
          split === undefined ? Math.min(...waits) : waitTogether(steps, states, now, split);
        return { result: { ok, asked, retryAfter, now } };
      }
      const isChange = asked.some(({ paid = 0 }) => paid > 0);
      const result = { ok, asked, retryAfter: 0, now };
      return { result, writes: isChange ? writesOf(steps, asked, states) : undefined };
    },
  };
}

/** The first limit that has all of the tokens pays them. */
function askInTurn(steps: readonly Step[], states: States, now: number): Answer[] {
  const asked: Answer[] = [];
  for (const step of steps) {
    const { count } = step.request;
    const answer = step.ask(states, now, count);
    if (answer.result.ok) return [...asked, { ...answer, paid: count }];
    asked.push(answer);
  }
  return asked;
}

/** Each limit pays what it has. */
function askTogether(steps: readonly Step[], states: States, now: number, count: number): Answer[] {
  const shares = sharesAt(steps, states, now, count);
  if (shares === undefined) return steps.map((step) => step.refuse(states, now, count));
  const last = shares.findLastIndex((share) => share > 0);
  let rest = count;
  return steps.slice(0, last + 1).map((step, i) => {
    const paid = shares[i]!;
    if (paid === 0) return step.refuse(states, now, rest);
    rest -= paid;
    return { ...step.ask(states, now, paid), paid };
  });
}

function sharesAt(steps: readonly Step[], states: States, now: number, count: number) {
  const purses = steps.map((step) => step.purse(states, now));
  return sharesOf(purses, count);
}

/** Whole ms until the limits have the tokens together. */
function waitTogether(steps: readonly Step[], states: States, now: number, count: number): number {
  const held = steps.map((step) => Math.max(0, step.purse(states, now).value));
  const missing = held.reduce((rest, value) => rest - value, count);
  const perMs = steps.reduce((sum, { request: { limit } }) => {
    return sum + limit.part.rate / longestPeriod(limit.part);
  }, 0);
  const passes = (wait: number) => sharesAt(steps, states, now + wait, count) !== undefined;
  return shortestWait(Math.ceil(Math.max(1, missing) / perMs), passes);
}

/**
 * What the limits that pay leave, and the rows of those that were asked in vain as they were. That
 * guards them: a later limit pays only because they had too little. Rows after the last limit that
 * pays say nothing about the answer, so they need no guard.
 */
function writesOf(
  steps: readonly Step[],
  asked: readonly Answer[],
  states: States,
): (RateLimitState | null | undefined)[] {
  const writes: (RateLimitState | null | undefined)[] = states.map(() => undefined);
  for (const [step, { paid = 0, next }] of asked.entries()) {
    const { offset, rows } = steps[step]!;
    for (const i of rows.keys()) writes[offset + i] = paid > 0 ? next[i] : states[offset + i];
  }
  return writes;
}

/** One of the limits, and where its rows are among all of them. */
class Step {
  constructor(
    readonly request: LimitRequest,
    readonly rows: readonly RowId[],
    readonly offset: number,
  ) {}

  /** What the limit alone answers to a call for so many tokens. */
  ask(states: States, now: number, count: number): Answer {
    const { request, rows } = this;
    const { config } = request.limit;
    // As a check, which closes nothing.
    const answer = decideRequest({ ...request, count }, rows, this.#own(states), now, true);
    if (answer.result.ok || isSatisfiable(config, count, false)) return answer;
    return { result: { ...answer.result, retryAfter: MAX_RETRY_AFTER }, next: [] };
  }

  /** The same, of a limit that gives nothing. */
  refuse(states: States, now: number, count: number): Answer {
    const { result } = this.ask(states, now, count);
    const { value, retryAfter = 1 } = result;
    return { result: result.ok ? { ok: false, retryAfter, value } : result, next: [] };
  }

  /** What its rows can give: the fuller one, or both of them together. */
  purse(states: States, now: number): Purse {
    const { part, answer } = this.request.limit;
    // An exempt caller has the tokens of every call. A blocked one has none until it ends.
    if (answer !== undefined) {
      const { ok } = this.ask(states, now, 1).result;
      return { value: ok ? Number.MAX_VALUE : 0, tolerance: 0 };
    }
    const held = this.#own(states).map((state) => heldAt(state, part, now).value);
    const sum = held.reduce((total, value) => total + value, 0);
    const fuller = Math.max(...held);
    const tolerance = toleranceOf(part);
    return fuller >= sum
      ? { value: fuller, tolerance }
      : { value: sum, tolerance: held.length * tolerance };
  }

  #own(states: States): States {
    return states.slice(this.offset, this.offset + this.rows.length);
  }
}

/** Whether the limits can ever give so many tokens together. */
export function isPayable(requests: readonly LimitRequest[], count: number): boolean {
  const purses = requests.map(({ limit: { config, part } }) => {
    const { shards = 1 } = config;
    return { value: mostHeld(config), tolerance: Math.min(shards, 2) * toleranceOf(part) };
  });
  return sharesOf(purses, count) !== undefined;
}
