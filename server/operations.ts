/** The verbs of a limiter, on whatever applies decisions: a store, or a transaction. */
import { calculateRateLimit } from "../core/calculate.js";
import { validateCount, validateSatisfiable } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import { RateLimitError } from "../core/errors.js";
import type { Applier } from "./applier.js";
import {
  type Environment,
  pickRows,
  readState,
  refund,
  resetRow,
  Take,
  takeAll,
  type Wanted,
} from "./decisions.js";
import type {
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  LimitConfigs,
  LimitOptions,
  RateLimiterOptions,
  RefundOptions,
} from "./limiter-types.js";
import type { RowId } from "./store/store.js";
import { allRows, type Target } from "./targets.js";
import { tell } from "./tell.js";

export interface OperationsOptions extends Applier {
  resolve(name: string, options: KeyOptions): Target;
  environment: Environment;
  onDecision: RateLimiterOptions<LimitConfigs, never>["onDecision"];
  onChange(name: string, key: string | undefined): void;
}

interface WantedOptions extends Omit<LimitOptions, "throws"> {
  maxWait?: number | undefined;
}

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationsOptions) {
  const { resolve, environment, apply, submit, onChange, onDecision } = options;

  function resolveWanted(name: string, wanted: WantedOptions): Wanted {
    const { count = 1, reserve = false, maxWait } = wanted;
    const target = resolve(name, wanted);
    validateSatisfiable(name, target.config, count, reserve);
    return { target, count, reserve, maxWait };
  }

  function report(consume: boolean, { target, count }: Wanted, result: RateLimitResult): void {
    const { name, key } = target;
    if (consume && result.ok && count > 0) onChange(name, key);
    if (onDecision === undefined) return;
    tell(onDecision, { action: consume ? "limit" : "check", name, key, count, result });
  }

  // Where hundreds of calls wait for one row, this process is the bound, and what it does most is
  // to collect what they leave behind. So there is one promise per call from here to the database.
  function decide(
    consume: boolean,
    name: string,
    callOptions: WantedOptions & { throws?: boolean | undefined } = {},
  ): Promise<RateLimitResult> {
    return new Promise((done, failed) => {
      const { target, count, reserve, maxWait } = resolveWanted(name, callOptions);
      const take = new Take(target, count, reserve, maxWait, !consume, environment);
      const settle = (result: RateLimitResult) => {
        report(consume, take, result);
        if (!result.ok && callOptions.throws) failed(denial(take, result, take.now));
        else done(result);
      };
      submit(take, settle, failed);
    });
  }

  return {
    limit: (name: string, callOptions?: WantedOptions & { throws?: boolean | undefined }) =>
      decide(true, name, callOptions),
    check: (name: string, callOptions?: LimitOptions) => decide(false, name, callOptions),

    async limitAll(
      items: readonly LimitAllItem[],
      { throws = false }: LimitAllOptions = {},
    ): Promise<LimitAllResult> {
      const wanted = items.map(({ name, ...item }) => resolveWanted(name, item));
      validateTogether(wanted);
      if (wanted.length === 0) return { ok: true, results: [] };
      const [decided] = await apply([takeAll(wanted, environment)]);
      const { results, ok, retryAfter, now } = decided!;
      for (const [i, want] of wanted.entries()) {
        if (ok || !results[i]!.ok) report(true, want, results[i]!);
      }
      if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
      const slowest = slowestOf(results);
      if (throws) throw denial(wanted[slowest]!, { ...results[slowest]!, retryAfter }, now);
      return { ok, results, retryAfter, name: wanted[slowest]!.target.name };
    },

    async reset(name: string, keyOptions: KeyOptions = {}): Promise<void> {
      const target = resolve(name, keyOptions);
      // The shards are independent rows, so each is reset by a decision of its own.
      await apply(allRows(target).map(resetRow));
      onChange(target.name, target.key);
    },

    async refund(
      name: string,
      { count = 1, ...keyOptions }: RefundOptions = {},
    ): Promise<{ value: number }> {
      const target = resolve(name, keyOptions);
      validateCount(count);
      const giveTo = async (rows: readonly RowId[], tokens: number) =>
        (await apply([refund(target, rows, tokens, environment)]))[0]!;
      let given = await giveTo(pickRows(target, environment.random), count);
      // Where these two shards are full, others are missing what was taken from them.
      if (given.left > 0 && (target.config.shards ?? 1) > 2) {
        given = await giveTo(allRows(target), given.left);
      }
      onChange(target.name, target.key);
      return { value: given.value };
    },

    async getValue(name: string, keyOptions: KeyOptions = {}) {
      const target = resolve(name, keyOptions);
      const [state] = await apply([readState(target, environment)]);
      const { value, ts } = calculateRateLimit(state!, target.config, state!.now);
      return { value, ts, config: target.config };
    },

    async snapshots(items: readonly { name: string; key?: string | undefined }[]) {
      const targets = items.map(({ name, key }) => resolve(name, { key }));
      const states = await apply(targets.map((target) => readState(target, environment)));
      return states.map((state, i) => {
        const { name, config } = targets[i]!;
        return { name, config, ...state };
      });
    },
  };
}

function denial(
  { target: { name, config } }: Wanted,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
): RateLimitError {
  return new RateLimitError({ kind: "RateLimited", name, retryAfter, value, config, now });
}

/** Items on one and the same bucket have to be satisfiable together. */
function validateTogether(wanted: readonly Wanted[]): void {
  const totals = new Map<string, Wanted>();
  for (const want of wanted) {
    const { name, key, config } = want.target;
    const id = `${name}\0${key ?? ""}`;
    const count = (totals.get(id)?.count ?? 0) + want.count;
    totals.set(id, { ...want, count });
    validateSatisfiable(name, config, count, want.reserve);
  }
}

function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}
