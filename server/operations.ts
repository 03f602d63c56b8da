/** The verbs of a limiter, on whatever applies decisions: a store, or a transaction. */
import { calculateRateLimit } from "../core/calculate.js";
import { type RateLimitConfig, validateConfig } from "../core/config.js";
import { validateCount, validateSatisfiable } from "../core/count.js";
import type { RateLimitResult } from "../core/decide.js";
import { describe, RateLimitError, RateLimitInputError } from "../core/errors.js";
import { validateKey, validateName } from "../core/key.js";
import { withStart } from "../core/phase.js";
import {
  allRows,
  type Environment,
  readState,
  refund,
  resetRow,
  take,
  takeAll,
  type Target,
  type Wanted,
} from "./decisions.js";
import type {
  DecisionEvent,
  KeyOptions,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  LimitOptions,
  RefundOptions,
} from "./limiter-types.js";
import type { Decision } from "./store/store.js";

export interface OperationsOptions {
  configs: ReadonlyMap<string, RateLimitConfig>;
  environment: Environment;
  apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]>;
  onDecision: ((event: DecisionEvent) => void) | undefined;
  onChange(name: string, key: string | undefined): void;
}

interface WantedOptions extends Omit<LimitOptions, "throws"> {
  maxWait?: number | undefined;
}

export type Operations = ReturnType<typeof createOperations>;

export function createOperations(options: OperationsOptions) {
  const { configs, environment, apply, onChange, onDecision } = options;

  function resolve(name: string, { key, config: inline }: KeyOptions): Target {
    validateKey(key);
    const known = configs.get(name);
    if (inline !== undefined) {
      if (known === undefined) validateName(name);
      validateConfig(inline);
    }
    const config = inline ?? known;
    if (config === undefined) {
      throw new RateLimitInputError(
        "name",
        `unknown rate limit ${describe(name)}: it is not among the limiter's limits, and the ` +
          `call has no config`,
      );
    }
    return { name, key, config: withStart(config, name, key) };
  }

  function resolveWanted(name: string, wanted: WantedOptions): Wanted {
    const { count = 1, reserve = false, maxWait } = wanted;
    const { key, config } = resolve(name, wanted);
    validateSatisfiable(name, config, count, reserve);
    return { name, key, config, count, reserve, maxWait };
  }

  function report(consume: boolean, { name, key, count }: Wanted, result: RateLimitResult): void {
    if (consume && result.ok && count > 0) onChange(name, key);
    if (onDecision === undefined) return;
    try {
      onDecision({ action: consume ? "limit" : "check", name, key, count, result });
    } catch {
      // A metric that fails must not turn a decision that stands into an error.
    }
  }

  async function decide(
    consume: boolean,
    name: string,
    callOptions: WantedOptions & { throws?: boolean | undefined } = {},
  ): Promise<RateLimitResult> {
    const want = resolveWanted(name, callOptions);
    const [decided] = await apply([take(want, consume, environment)]);
    const { result, now } = decided!;
    report(consume, want, result);
    if (!result.ok && callOptions.throws) throw denial(want, result, now);
    return result;
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
      const [decided] = await apply([takeAll(wanted, true, environment)]);
      const { results, ok, retryAfter, now } = decided!;
      for (const [i, want] of wanted.entries()) {
        if (ok || !results[i]!.ok) report(true, want, results[i]!);
      }
      if (ok) return { ok, results, ...(retryAfter > 0 && { retryAfter }) };
      const slowest = slowestOf(results);
      if (throws) throw denial(wanted[slowest]!, { ...results[slowest]!, retryAfter }, now);
      return { ok, results, retryAfter, name: wanted[slowest]!.name };
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
      const [result] = await apply([refund(target, count, environment)]);
      onChange(target.name, target.key);
      return result!;
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
  { name, config }: Target,
  { retryAfter = 0, value }: RateLimitResult,
  now: number,
): RateLimitError {
  return new RateLimitError({ kind: "RateLimited", name, retryAfter, value, config, now });
}

/** Items on one and the same bucket have to be satisfiable together. */
function validateTogether(wanted: readonly Wanted[]): void {
  const totals = new Map<string, Wanted>();
  for (const want of wanted) {
    const id = `${want.name}\0${want.key ?? ""}`;
    const count = (totals.get(id)?.count ?? 0) + want.count;
    totals.set(id, { ...want, count });
    validateSatisfiable(want.name, want.config, count, want.reserve);
  }
}

function slowestOf(results: readonly RateLimitResult[]): number {
  const waits = results.map(({ ok, retryAfter = 0 }) => (ok ? -1 : retryAfter));
  return waits.indexOf(Math.max(...waits));
}
