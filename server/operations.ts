/** The methods of a limiter, on anything that executes decisions: a store, or a transaction. */
import { calculateRateLimit } from "../core/calculate.js";
import { validateCount, validateSatisfiable } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import { RateLimitError, RateLimitInputError } from "../core/errors.js";
import type { TakenTokens } from "../core/refund.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import {
  type Environment,
  type LimitRequest,
  pickRows,
  readState,
  refund,
  resetRow,
  Take,
  takeAll,
  takenBy,
} from "./decisions.js";
import {
  ITEM_OPTIONS,
  KEY_OPTIONS,
  LIMIT_ALL_OPTIONS,
  LIMIT_OPTIONS,
  REFUND_OPTIONS,
  rejectUnknownOptions,
} from "./known-options.js";
import type {
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
import { allRows, type ResolvedLimit } from "./resolve-limit.js";
import type { RowId } from "./store/store.js";
import type { Executor } from "./with-deadline.js";

export interface OperationsOptions extends Executor {
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  environment: Environment;
  onDecision: RateLimiterOptions<LimitConfigs, never>["onDecision"];
  onChange(name: string, key: string | undefined): void;
}

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationsOptions) {
  const { resolve, environment, apply, submit, onChange, onDecision } = options;

  function toRequest(name: string, requestOptions: LimitOptions, maxWait?: number): LimitRequest {
    const { count = 1, reserve = false } = requestOptions;
    const limit = resolve(name, requestOptions);
    validateSatisfiable(name, limit.config, count, reserve);
    return { limit, count, reserve, maxWait };
  }

  function report(consume: boolean, { limit, count }: LimitRequest, result: RateLimitResult): void {
    const { name, key } = limit;
    if (consume && result.ok && count > 0) onChange(name, key);
    if (onDecision === undefined) return;
    notify(onDecision, { action: consume ? "limit" : "check", name, key, count, result });
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
      const settle = (result: RateLimitResult) => {
        report(consume, take, result);
        if (!result.ok && callOptions.throws) failed(denial(take, result, take.now));
        else done(result);
      };
      submit(take, settle, failed);
    });
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
      const [decided] = await apply([takeAll(requests, environment)]);
      const { results, ok, retryAfter, now } = decided!;
      for (const [i, request] of requests.entries()) {
        if (ok || !results[i]!.ok) report(true, request, results[i]!);
      }
      if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
      const slowest = slowestOf(results);
      if (callOptions.throws)
        throw denial(requests[slowest]!, { ...results[slowest]!, retryAfter }, now);
      return { ok, results, retryAfter, name: requests[slowest]!.limit.name };
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
      const giveTo = async (
        rows: readonly RowId[],
        tokens: number,
        taken?: readonly TakenTokens[],
      ) => (await apply([refund(limit, rows, tokens, environment, taken)]))[0]!;
      let given: { value: number; rest: number };
      if (result?.ok) {
        const { rows, taken } = takenBy(limit, count, result);
        given = await giveTo(rows, count, taken);
      } else {
        // A denied call took nothing.
        given = await giveTo(pickRows(limit, environment.random), result === undefined ? count : 0);
        // These two shards are full, so the tokens were taken from others.
        if (given.rest > 0 && (limit.config.shards ?? 1) > 2) {
          given = await giveTo(allRows(limit), given.rest);
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
      items: readonly { name: TName; key?: string | undefined }[],
    ): Promise<RateLimitSnapshot<TName>[]> {
      const limits = items.map(({ name, key }) => resolve(name, { key }));
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

function denial(
  { limit: { name, config } }: LimitRequest,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
): RateLimitError {
  return new RateLimitError({ kind: "RateLimited", name, retryAfter, value, config, now });
}

/** Requests for the same bucket have to be satisfiable together. */
function validateTogether(requests: readonly LimitRequest[]): void {
  const totals = new Map<string, number>();
  for (const { limit, count, reserve } of requests) {
    const { name, key, config } = limit;
    const id = `${name}\0${key ?? ""}`;
    const total = (totals.get(id) ?? 0) + count;
    totals.set(id, total);
    validateSatisfiable(name, config, total, reserve);
  }
}

function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}
