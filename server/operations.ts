/** The methods of a limiter, on anything that executes decisions: a store, or a transaction. */
import { calculateRateLimit } from "../core/calculate.js";
import { validateSatisfiable } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { createCorrections } from "./corrections.js";
import { denial, denialsOf, slowestOf } from "./denial.js";
import {
  ITEM_OPTIONS,
  KEY_OPTIONS,
  LIMIT_ALL_OPTIONS,
  LIMIT_OPTIONS,
  rejectUnknownOptions,
} from "./known-options.js";
import type {
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  LimitOptions,
  LimitValue,
} from "./call-options.js";
import { notify } from "./notify.js";
import type { OperationsOptions, Report } from "./operations-options.js";
import { type AllDecided, takeAll } from "./take-all.js";
import { readState, resetRow } from "./row-decisions.js";
import { type LimitRequest, Take } from "./take.js";
import { allRows } from "./resolve-limit.js";
import { rowKey } from "./store/store.js";
import { remember } from "./taking.js";

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationsOptions) {
  const { resolve, environment, apply, submit, onChange, onDecision, mayFailOpen } = options;

  function toRequest(name: string, requestOptions: LimitOptions, maxWait?: number): LimitRequest {
    const { count = 1, reserve = false } = requestOptions;
    const limit = resolve(name, requestOptions);
    validateSatisfiable(name, limit.config, count, reserve);
    return { limit, count, reserve, maxWait };
  }

  const report: Report = (action, { limit, count }, result, isChange) => {
    const { name, key } = limit;
    if (isChange) onChange(name, key);
    if (onDecision !== undefined) notify(onDecision, { action, name, key, count, result });
  };

  /** The answer instead of a failure of the store, if the limit lets calls through then. */
  function failOpenResult(
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
        const result = failOpenResult(error, take);
        if (result === undefined) return failed(error);
        report(action, take, result, false);
        done(consume ? remember(result, { limit, count: 0 }) : result);
      });
    });
  }

  return {
    ...createCorrections(options, report),

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
        const results = requests.map((request) => failOpenResult(error, request));
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

    async reset(name: string, keyOptions: KeyOptions = {}): Promise<void> {
      rejectUnknownOptions(keyOptions, KEY_OPTIONS, "reset()");
      const limit = resolve(name, keyOptions);
      // The shards are independent rows, so each is reset by a decision of its own.
      await apply(allRows(limit).map(resetRow));
      onChange(limit.name, limit.key);
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

/** The answer of a limit that only reports: it lets every call through, and says what it would do. */
function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
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
