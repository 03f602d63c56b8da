/** Predicts which limits pay for a call of `limitFirst`, from what a page knows of each limit. Pure. */
import { firstWhole } from "../core/calculate.js";
import { longestPeriod, toleranceOf } from "../core/config.js";
import { sharesOf } from "../core/shares.js";
import type { CheckedRateLimit, RateLimitStatus } from "./types.js";

/** A limit, as `useRateLimit` returns it. */
export interface PredictableLimit {
  /** Predicts the answer to a call at `ts`, epoch ms on this machine's clock. */
  check(ts?: number, count?: number): CheckedRateLimit | undefined;
  /** Read where the tokens of several limits count, so that the component follows refills. */
  readonly value?: number | undefined;
}

/** The options of `predictFirst`: those of the call of `limitFirst`. */
export interface PredictFirstOptions<TName extends string = string> {
  /**
   * Tokens that the call costs: of each limit, or by name where limits count in different units.
   * @default 1
   */
  count?: number | { readonly [TLimit in TName]?: number } | undefined;
  /** Whether each limit gives what it has, in order. Only with one number as `count`. @default false */
  split?: boolean | undefined;
  /** When the call is sent, epoch ms on this machine's clock. @default now */
  at?: number | undefined;
}

/** The limits that pay for a call, and the instant at which they do. */
export interface FirstPrediction<TName extends string = string> {
  /** Whether the call would pass. `retryAt` is `Infinity` where no wait helps. */
  readonly status: RateLimitStatus;
  /** The limits that pay, now or at `retryAt`, in order; none where no wait helps. */
  readonly paid: readonly { readonly name: TName; readonly count: number }[];
}

/**
 * Predicts the answer of `limitFirst`: `predictFirst({ plan, credits }, { count: 5 })`, where `plan`
 * and `credits` are results of `useRateLimit` with the same `count`. The server gives the same answer,
 * if no other call takes tokens. Where a limit has `shards`, and for fractions of tokens with
 * `split`, the prediction can be a little early or late.
 *
 * @param limits by name, in the order in which they pay.
 * @returns `undefined` while not enough is known.
 *
 * @example
 * import { predictFirst } from "trpc-rate-limit/client";
 *
 * function PaidBy() {
 *   const plan = useRateLimit("plan");
 *   const credits = useRateLimit("credits");
 *   const prediction = predictFirst({ plan, credits }, { count: 5 });
 *   return <p>{prediction?.paid.map(({ name }) => name).join(" and ")}</p>;
 * }
 */
export function predictFirst<TName extends string>(
  limits: { readonly [TLimit in TName]: PredictableLimit },
  { count = 1, split = false, at = Date.now() }: PredictFirstOptions<TName> = {},
): FirstPrediction<TName> | undefined {
  const names = Object.keys(limits) as TName[];
  if (split && typeof count === "number" && count > 0) {
    return predictSplit(limits, names, count, at);
  }
  let soonest: FirstPrediction<TName> = NO_WAIT_HELPS;
  for (const name of names) {
    const wanted = (typeof count === "number" ? count : count[name]) ?? 1;
    const checked = limits[name].check(at, wanted);
    // This limit would pay, or not. Before that is known, the limits after it say nothing.
    if (checked === undefined) return undefined;
    const { retryAt } = checked;
    const paid = [{ name, count: wanted }];
    if (retryAt === undefined) return { status: OK, paid };
    if (retryAt < soonest.status.retryAt!) soonest = { status: { ok: false, retryAt }, paid };
  }
  return soonest;
}

const OK: RateLimitStatus = { ok: true, retryAt: undefined };
const NO_WAIT_HELPS: FirstPrediction<never> = {
  status: { ok: false, retryAt: Infinity },
  paid: [],
};

function predictSplit<TName extends string>(
  limits: { readonly [TLimit in TName]: PredictableLimit },
  names: readonly TName[],
  count: number,
  at: number,
): FirstPrediction<TName> | undefined {
  const checks = names.map((name) => {
    // A component that reads `value` is rendered for each whole token.
    void limits[name].value;
    return limits[name].check(at, 0);
  });
  if (!checks.every((checked) => checked !== undefined)) return undefined;
  const sharesAt = (ts: number) =>
    sharesOf(
      names.map((name) => purseOf(limits[name].check(ts, 0)!)),
      count,
    );
  const paidBy = (shares: readonly number[]) =>
    names.map((name, i) => ({ name, count: shares[i]! })).filter((paid) => paid.count > 0);
  const now = sharesAt(at);
  if (now) return { status: OK, paid: paidBy(now) };
  const perMs = checks.reduce((sum, { config }) => sum + config.rate / longestPeriod(config), 0);
  const wait = firstWhole(Math.ceil(1 / perMs), (ms) => sharesAt(at + ms) !== undefined);
  if (wait === Infinity) return NO_WAIT_HELPS;
  const paid = paidBy(sharesAt(at + wait)!);
  // On the server's clock, each of these limits has its part at `at + wait`, or less than a ms before that.
  const ends = paid.map(({ name, count: part }) => limits[name].check(at, part)!.retryAt ?? at);
  return { status: { ok: false, retryAt: Math.max(...ends) }, paid };
}

/**
 * A call sees two shards. These two are assumed to hold no more than the others. `limitFirst` takes no
 * shadows, so a shadow on a page is a limit that an override has exempted, and pays for everything.
 */
function purseOf({ value, config }: CheckedRateLimit) {
  if (config.shadow) return { value: Infinity, tolerance: 0 };
  const { shards = 1 } = config;
  const part = Math.min(shards, 2) / shards;
  return { value: Math.max(value * part, Math.min(value, 0)), tolerance: toleranceOf(config) };
}
