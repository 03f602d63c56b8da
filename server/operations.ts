/** The methods of a limiter, on anything that executes decisions: a store, or a transaction. */
import { calculateRateLimit } from "../core/calculate.js";
import { chargeFloor } from "../core/charge.js";
import { capacityOf } from "../core/config.js";
import { validateCount, validateSatisfiable } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import { type RateLimitDenial, RateLimitError, RateLimitInputError } from "../core/errors.js";
import type { RefundedRateLimit, TakenTokens } from "../core/refund.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import {
  CHARGE_OPTIONS,
  ITEM_OPTIONS,
  KEY_OPTIONS,
  LIMIT_ALL_OPTIONS,
  LIMIT_OPTIONS,
  REFUND_OPTIONS,
  rejectUnknownOptions,
} from "./known-options.js";
import type {
  ChargeOptions,
  ChargeResult,
  DecisionEvent,
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  LimitConfigs,
  LimitOptions,
  LimitValue,
  RateLimiterOptions,
  RefundOptions,
} from "./limiter-types.js";
import { notify } from "./notify.js";
import { type AllDecided, takeAll } from "./take-all.js";
import { chargeTo, readState, refund, resetRow } from "./row-decisions.js";
import { type Environment, type LimitRequest, pickRows, Take } from "./take.js";
import { allRows, type ResolvedLimit } from "./resolve-limit.js";
import { type RowId, rowKey } from "./store/store.js";
import { remember, takenBy, type Taking, takingOf, withCharge, withoutUnused } from "./taking.js";
import type { Executor } from "./with-deadline.js";

export interface OperationsOptions extends Executor {
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  environment: Environment;
  /** Whether `whenStoreFails` counts. Not in a transaction, which the failure has ended. */
  mayFailOpen: boolean;
  onDecision: RateLimiterOptions<LimitConfigs, never>["onDecision"];
  onChange(name: string, key: string | undefined): void;
  /** Receives a function that undoes what a result remembers of its settlement. */
  onSettle?(undo: () => void): void;
}

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationsOptions) {
  const { resolve, environment, apply, submit, onChange, onSettle, onDecision, mayFailOpen } =
    options;

  function toRequest(name: string, requestOptions: LimitOptions, maxWait?: number): LimitRequest {
    const { count = 1, reserve = false } = requestOptions;
    const limit = resolve(name, requestOptions);
    validateSatisfiable(name, limit.config, count, reserve);
    return { limit, count, reserve, maxWait };
  }

  function report(
    action: DecisionEvent["action"],
    { limit, count }: Pick<LimitRequest, "limit" | "count">,
    result: RateLimitResult,
    isChange: boolean,
  ): void {
    const { name, key } = limit;
    if (isChange) onChange(name, key);
    if (onDecision !== undefined) notify(onDecision, { action, name, key, count, result });
  }

  /** The answer instead of a failure of the store, if the limit lets calls through then. */
  function insteadOf(
    error: unknown,
    { limit }: Pick<LimitRequest, "limit">,
  ): RateLimitResult | undefined {
    const { name } = Object(error) as { name?: unknown };
    if (!mayFailOpen || !limit.failsOpen || name !== "RateLimitStoreError") return undefined;
    return { ok: true, value: 0, ts: environment.clock(), storeFailed: true };
  }

  // One promise per call from here to the database. Where hundreds of calls wait for one row, this
  // process is the bottleneck, and most of its work is collecting the garbage of earlier calls.
  function decide(
    consume: boolean,
    name: string,
    callOptions: LimitOptions = {},
    maxWait?: number,
  ): Promise<RateLimitResult> {
    return new Promise((done, failed) => {
      rejectUnknownOptions(callOptions, LIMIT_OPTIONS, consume ? "limit()" : "check()");
      const { limit, count, reserve } = toRequest(name, callOptions);
      const take = new Take(limit, count, reserve, maxWait, !consume, environment);
      const action = consume ? "limit" : "check";
      const answer = (decided: RateLimitResult) => {
        let result = limit.config.shadow ? inShadow(decided, take.now) : decided;
        // A new object. A check has taken nothing that could be settled.
        if (result !== decided && consume) result = remember(result, take);
        report(action, take, result, take.isChange);
        if (!result.ok && callOptions.throws) failed(denial(take, result, take.now));
        else done(result);
      };
      if (!limit.failsOpen) return submit(take, answer, failed);
      submit(take, answer, (error) => {
        const result = insteadOf(error, take);
        if (result === undefined) return failed(error);
        report(action, take, result, false);
        done(consume ? remember(result, { limit, count: 0 }) : result);
      });
    });
  }

  async function giveTo(
    limit: ResolvedLimit,
    rows: readonly RowId[],
    tokens: number,
    taken?: readonly TakenTokens[],
  ): Promise<Omit<RefundedRateLimit, "next">> {
    const [given] = await apply([refund(limit, rows, tokens, environment, taken)]);
    return given!;
  }

  async function chargeLimit(limit: ResolvedLimit, count: number): Promise<RateLimitResult> {
    const rows = pickRows(limit, environment.random);
    const isAll = rows.length === (limit.config.shards ?? 1);
    let [charged] = await apply([chargeTo(limit, rows, count, environment, isAll)]);
    // A debt is spread over all shards, so that every call meets it.
    charged ??= (await apply([chargeTo(limit, allRows(limit), count, environment, true)]))[0];
    report("charge", { limit, count }, charged!, count > 0);
    return charged!;
  }

  async function settleOne(taking: Taking, actual: number): Promise<void> {
    const { limit, now: before } = taking;
    const difference = actual - before.count;
    if (difference === 0) return;
    onSettle?.(() => (taking.now = before));
    if (difference > 0) {
      validateChargeable(limit, difference);
      const charged = await chargeLimit(limit, difference);
      if (!charged.ok) return;
      const charge = { count: difference, ...takenBy(limit, difference, charged) };
      taking.now = withCharge(before, charge);
      return;
    }
    const { rows, taken } = before;
    const unused = -difference;
    // Where the answer is lost, all may have come back. Nothing must come back twice.
    const all = taken.map(({ count, returned = 0 }) => count - returned);
    taking.now = withoutUnused(before, unused, all);
    const { given, rest } = await giveTo(limit, rows, unused, taken);
    taking.now = withoutUnused(before, unused, given);
    if (rest < unused) onChange(limit.name, limit.key);
  }

  return {
    /** @param maxWait see `LimitRequest`; for `acquire`. */
    limit: (name: string, callOptions?: LimitOptions, maxWait?: number) =>
      decide(true, name, callOptions, maxWait),
    check: (name: string, callOptions?: LimitOptions) => decide(false, name, callOptions),

    async limitAll(
      items: readonly LimitAllItem[],
      callOptions: LimitAllOptions = {},
    ): Promise<LimitAllResult> {
      rejectUnknownOptions(callOptions, LIMIT_ALL_OPTIONS, "limitAll()");
      const requests = items.map((item) => {
        rejectUnknownOptions(item, ITEM_OPTIONS, "an item of limitAll()");
        return toRequest(item.name, item);
      });
      validateTogether(requests);
      if (requests.length === 0) return { ok: true, results: [] };
      let decided: AllDecided;
      try {
        [decided] = (await apply([takeAll(requests, environment)])) as [AllDecided];
      } catch (error) {
        const results = requests.map((request) => insteadOf(error, request));
        if (!results.every((result) => result !== undefined)) throw error;
        for (const [i, request] of requests.entries()) report("limit", request, results[i]!, false);
        return {
          ok: true,
          results: results.map((result, i) => remember(result, { ...requests[i]!, count: 0 })),
        };
      }
      const { ok, retryAfter, now, changed } = decided;
      const results = requests.map((request, i) => {
        const given = decided.results[i]!;
        const result = request.limit.config.shadow ? inShadow(given, now) : given;
        // When denied, no item has taken anything that could be settled.
        return ok ? remember(result, request) : result;
      });
      for (const [i, request] of requests.entries()) {
        const isDenied = !decided.results[i]!.ok;
        if (ok || isDenied) report("limit", request, results[i]!, changed[i]!);
      }
      if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
      const slowest = slowestOf(results);
      if (callOptions.throws) {
        const denials = denialsOf(requests, results);
        throw denial(requests[slowest]!, { ...results[slowest]!, retryAfter }, now, denials);
      }
      return { ok, results, retryAfter, name: requests[slowest]!.limit.name };
    },

    async charge(name: string, chargeOptions: ChargeOptions = {}): Promise<ChargeResult> {
      rejectUnknownOptions(chargeOptions, CHARGE_OPTIONS, "charge()");
      const { count = 1 } = chargeOptions;
      const limit = resolve(name, chargeOptions);
      validateChargeable(limit, count);
      const { value, retryAfter } = await chargeLimit(limit, count);
      return retryAfter === undefined ? { value } : { value, retryAfter };
    },

    async settle(result: RateLimitResult, actual: number): Promise<void> {
      validateCount(actual);
      const taking = takingOf(result);
      if (taking === undefined || !result.ok) throw unsettleable(result);
      // A shadow that would have denied the call took nothing, and would not have let it use anything.
      if (result.shadow?.ok === false) return;
      // One after the other, or two at the same time could give the same tokens back.
      const settling = taking.settled.then(() => settleOne(taking, actual));
      taking.settled = settling.catch(() => {});
      return settling;
    },

    async reset(name: string, keyOptions: KeyOptions = {}): Promise<void> {
      rejectUnknownOptions(keyOptions, KEY_OPTIONS, "reset()");
      const limit = resolve(name, keyOptions);
      // The shards are independent rows, so each is reset by a decision of its own.
      await apply(allRows(limit).map(resetRow));
      onChange(limit.name, limit.key);
    },

    async refund(name: string, refundOptions: RefundOptions = {}): Promise<{ value: number }> {
      rejectUnknownOptions(refundOptions, REFUND_OPTIONS, "refund()");
      const { count = 1, result } = refundOptions;
      const limit = resolve(name, refundOptions);
      validateCount(count);
      validateResult(result);
      let given: Omit<RefundedRateLimit, "next">;
      if (result?.ok && !result.storeFailed && result.shadow?.ok !== false) {
        const { rows, taken } = takenBy(limit, count, result);
        given = await giveTo(limit, rows, count, taken);
      } else {
        const tokens = result === undefined ? count : 0; // A denied call took nothing.
        given = await giveTo(limit, pickRows(limit, environment.random), tokens);
        // These two shards are full, so the tokens were taken from others.
        if (given.rest > 0 && (limit.config.shards ?? 1) > 2) {
          given = await giveTo(limit, allRows(limit), given.rest);
        }
      }
      onChange(limit.name, limit.key);
      return { value: given.value };
    },

    async getValue(name: string, keyOptions: KeyOptions = {}): Promise<LimitValue> {
      rejectUnknownOptions(keyOptions, KEY_OPTIONS, "getValue()");
      const limit = resolve(name, keyOptions);
      const [state] = await apply([readState(limit, environment)]);
      const { value, ts } = calculateRateLimit(state!, limit.config, state!.now);
      return { value, ts, config: limit.config };
    },

    async snapshots<TName extends string>(
      items: readonly (KeyOptions & { name: TName })[],
    ): Promise<RateLimitSnapshot<TName>[]> {
      const limits = items.map((item) => resolve(item.name, item));
      const states = await apply(limits.map((limit) => readState(limit, environment)));
      return states.map((state, i) => {
        return { name: items[i]!.name, config: limits[i]!.config, ...state };
      });
    },
  };
}

/** In plain JavaScript it can be anything, such as a result that was sent as JSON in part. */
function validateResult(result: RateLimitResult | undefined): void {
  if (result === undefined) return;
  const { ok, value, ts }: { ok?: unknown; value?: unknown; ts?: unknown } = result ?? {};
  if (ok === false) return;
  if (ok === true && Number.isFinite(ts) && Number.isFinite(value)) return;
  throw new RateLimitInputError("result", "result must be what limit or acquire returned");
}

function unsettleable(result: RateLimitResult): RateLimitInputError {
  const message =
    result && !result.ok
      ? "a denied call took no tokens, so there is nothing to settle: use charge() for what was used"
      : "settle() needs the result of a call that took tokens, the one that limit, acquire or a " +
        "granted limitAll returned, and not a copy: for a copy, use refund() or charge() with the " +
        "difference";
  return new RateLimitInputError("result", message);
}

function validateChargeable({ name, part, config }: ResolvedLimit, count: number): void {
  validateCount(count);
  if (capacityOf(part) - count / (config.shards ?? 1) >= chargeFloor(part)) return;
  const message = `a charge of ${count} to "${name}" would take more than 71,000 years to refill`;
  throw new RateLimitInputError("unsatisfiable", message);
}

/** The answer of a limit that only reports: it lets every call through, and says what it would do. */
function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
}

function denial(
  { limit: { name, config } }: LimitRequest,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
  denials?: readonly RateLimitDenial[],
): RateLimitError {
  const data = { kind: "RateLimited", name, retryAfter, value, config, now } as const;
  return new RateLimitError(denials ? { ...data, denials } : data);
}

/** The requests that were denied, by name. Of several for one name, the one with the longest wait. */
function denialsOf(
  requests: readonly LimitRequest[],
  results: readonly RateLimitResult[],
): readonly RateLimitDenial[] {
  const denials = new Map<string, RateLimitDenial>();
  for (const [i, { ok, retryAfter = 0, value }] of results.entries()) {
    const { name, config } = requests[i]!.limit;
    if (ok || (denials.get(name)?.retryAfter ?? 0) >= retryAfter) continue;
    denials.set(name, { name, retryAfter, value, config });
  }
  return [...denials.values()];
}

/** Requests for the same bucket have to be satisfiable together. */
function validateTogether(requests: readonly LimitRequest[]): void {
  const totals = new Map<string, number>();
  for (const { limit, count, reserve } of requests) {
    const { name, config } = limit;
    // By the row: two keys are one bucket if `hashKey` returns the same for both.
    const id = rowKey(limit.rows[0]);
    const total = (totals.get(id) ?? 0) + count;
    totals.set(id, total);
    validateSatisfiable(name, config, total, reserve);
  }
}

function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}
