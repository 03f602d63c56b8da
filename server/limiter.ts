/**
 * The limiter: names, keys and configs on one side, decisions for a store on the other. It holds no
 * state of its own; every answer is a decision of `core` on rows that the store keeps.
 */
import { calculateRateLimit, type RateLimitState } from "../core/calculate.js";
import { type RateLimitConfig, shardConfig, validateConfig } from "../core/config.js";
import { validateSatisfiable } from "../core/count.js";
import { decideRateLimit, type RateLimitResult } from "../core/decide.js";
import {
  describe,
  RateLimitConfigError,
  RateLimitError,
  RateLimitInputError,
  RateLimitStoreError,
} from "../core/errors.js";
import { validateKey, validateName } from "../core/key.js";
import { withStart } from "../core/phase.js";
import { decideShardPair, sumShards } from "../core/shards.js";
import { createDeadline } from "./deadline.js";
import type {
  ChangeListener,
  LimitConfigs,
  LimitOptions,
  RateLimiter,
  RateLimiterOptions,
} from "./limiter-types.js";
import type { Decision, RowId } from "./store/store.js";

/** How long a call may wait for the store, ms. */
const DEFAULT_TIMEOUT = 2000;

/** One call's limit, resolved and checked. */
interface Target {
  name: string;
  key: string | undefined;
  config: RateLimitConfig;
}

/**
 * @throws RateLimitConfigError quoting the option that no limit could work with.
 */
export function createRateLimiter<const TLimits extends LimitConfigs>(
  options: RateLimiterOptions<TLimits>,
): RateLimiter<TLimits> {
  const {
    store,
    limits,
    clock = () => Date.now(),
    random = Math.random,
    timeout = DEFAULT_TIMEOUT,
  } = options;
  const configs = new Map(Object.entries<RateLimitConfig>(limits));
  for (const [name, config] of configs) {
    validateName(name);
    validateConfig(config, `limits.${name}`);
  }
  if (!(timeout > 0)) throw new RateLimitConfigError("timeout", timeout, "a number of ms above 0");

  const listeners = new Set<ChangeListener>();
  const withDeadline = createDeadline(
    timeout,
    () => new RateLimitStoreError(`the rate limit store did not answer within ${timeout} ms`),
  );

  function resolve(name: string, key: string | undefined, inline?: RateLimitConfig): Target {
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
        `unknown rate limit ${describe(name)}: it is not among the ` +
          `limiter's limits, and the call has no config`,
      );
    }
    return { name, key, config: withStart(config, name, key) };
  }

  async function apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]> {
    return withDeadline((call) => store.apply(decisions, call));
  }

  async function take(
    { name, key, config }: Target,
    count: number,
    reserve: boolean,
    consume: boolean,
  ): Promise<{ result: RateLimitResult; now: number }> {
    validateSatisfiable(name, config, count, reserve);
    const { shards = 1 } = config;
    const part = shardConfig(config);
    const picked = shards === 1 ? [0] : pickTwo(shards, random);
    let now = 0;
    const decision: Decision<RateLimitResult> = {
      rows: picked.map((shard) => rowOf(name, key, shard)),
      decide(states) {
        now = clock();
        const [first = null, second = null] = states;
        const { result, next } =
          shards === 1
            ? withList(decideRateLimit(first, part, now, count, reserve))
            : decideShardPair([first, second], part, now, count, reserve);
        return consume && result.ok && count > 0 ? { result, writes: next } : { result };
      },
    };
    const [result] = await apply([decision]);
    if (consume && result!.ok && count > 0) changed(name, key);
    return { result: result!, now };
  }

  async function answer(
    consume: boolean,
    name: string,
    callOptions: LimitOptions = {},
  ): Promise<RateLimitResult> {
    const { key, count = 1, reserve = false, throws = false, config } = callOptions;
    const target = resolve(name, key, config);
    const { result, now } = await take(target, count, reserve, consume);
    if (result.ok || !throws) return result;
    const { retryAfter, value } = result;
    throw new RateLimitError({
      kind: "RateLimited",
      name,
      retryAfter,
      value,
      config: target.config,
      now,
    });
  }

  function changed(name: string, key: string | undefined): void {
    for (const listener of listeners) listener(name, key);
  }

  function readDecision({ name, key, config }: Target): Decision<RateLimitState & { now: number }> {
    const { shards = 1 } = config;
    return {
      rows: Array.from({ length: shards }, (_, shard) => rowOf(name, key, shard)),
      decide(states) {
        const now = clock();
        const state = shards === 1 && states[0] ? states[0] : sumShards(states, config, now);
        return { result: { value: state.value, ts: state.ts, now } };
      },
    };
  }

  return {
    limits,
    clock,
    limit: (name, ...[callOptions]) => answer(true, name, callOptions),
    check: (name, ...[callOptions]) => answer(false, name, callOptions),

    async reset(name, ...[{ key, config } = {}]) {
      const target = resolve(name, key, config);
      const { shards = 1 } = target.config;
      // The shards are independent rows, so each is reset by a decision of its own.
      await apply(
        Array.from({ length: shards }, (_, shard) => ({
          rows: [rowOf(name, key, shard)],
          decide: ([state]) => ({ result: undefined, ...(state && { writes: [null] }) }),
        })),
      );
      changed(name, key);
    },

    async getValue(name, ...[{ key, config } = {}]) {
      const target = resolve(name, key, config);
      const [state] = await apply([readDecision(target)]);
      const { value, ts } = calculateRateLimit(state!, target.config, state!.now);
      return { value, ts, config: target.config };
    },

    async snapshots(items) {
      const targets = items.map(({ name, key }) => resolve(name, key));
      const states = await apply(targets.map(readDecision));
      return states.map((state, i) => {
        const { name, config } = targets[i]!;
        return { name, config, ...state };
      });
    },

    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function rowOf(name: string, key: string | undefined, shard: number): RowId {
  return { name, key: key ?? "", shard };
}

function withList({ result, next }: ReturnType<typeof decideRateLimit>) {
  return { result, next: [next] };
}

/** Two different shards, each pair equally likely. */
function pickTwo(shards: number, random: () => number): [number, number] {
  const first = Math.floor(random() * shards);
  const second = (first + 1 + Math.floor(random() * (shards - 1))) % shards;
  return [first, second];
}
