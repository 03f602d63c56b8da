/**
 * The limiter: names, keys and configs on one side, decisions for a store on the other. It holds no
 * state of its own; every answer is a decision of `core` on rows that the store keeps.
 */
import { type RateLimitConfig, validateConfig } from "../core/config.js";
import { RateLimitConfigError, RateLimitStoreError } from "../core/errors.js";
import { validateName } from "../core/key.js";
import { acquire } from "./acquire.js";
import { type Applier, boundBy, unbound } from "./applier.js";
import { Deadline } from "./deadline.js";
import type {
  ChangeListener,
  LimitConfigs,
  RateLimiter,
  RateLimiterOptions,
} from "./limiter-types.js";
import { createOperations, type OperationsOptions } from "./operations.js";
import { prune } from "./prune.js";
import { sleep as realSleep } from "./sleep.js";
import type { RateLimitStore } from "./store/store.js";
import { createTargets } from "./targets.js";
import { tell } from "./tell.js";

/** How long a call may wait for the store, ms. */
const DEFAULT_TIMEOUT = 2000;

/**
 * @throws RateLimitConfigError quoting the option that no limit could work with.
 */
export function createRateLimiter<const TLimits extends LimitConfigs, TTransaction = never>(
  options: RateLimiterOptions<TLimits, TTransaction>,
): RateLimiter<TLimits, TTransaction> {
  const { store, limits, clock = () => Date.now(), random = Math.random } = options;
  const { timeout = DEFAULT_TIMEOUT, sleep = realSleep, onDecision, channel } = options;
  const configs = new Map<string, RateLimitConfig>();
  for (const [name, config] of Object.entries<RateLimitConfig>(limits)) {
    validateName(name);
    validateConfig(config, `limits.${name}`);
    // As it was checked: one that is changed later would count for some keys and not for others.
    configs.set(name, { ...config });
  }
  if (!(timeout > 0)) throw new RateLimitConfigError("timeout", timeout, "a number of ms above 0");

  const listeners = new Set<ChangeListener>();
  const publish = channel?.publish.bind(channel);
  const deadline = new Deadline(
    timeout,
    () => new RateLimitStoreError(`the rate limit store did not answer within ${timeout} ms`),
  );
  const shared: Omit<OperationsOptions, keyof Applier> = {
    resolve: createTargets(configs),
    environment: { clock, random },
    onDecision,
    onChange(name, key) {
      for (const listener of listeners) listener(name, key);
      // Or, if it throws, the calls that are answered along with this one would hear nothing.
      if (publish) tell(publish, name, key);
    },
  };
  const applier = boundBy(deadline, store);
  const operations = createOperations({ ...shared, ...applier });

  /** The operations inside a transaction, whose owner minds its time. */
  function inside(transactionStore: Pick<RateLimitStore, "apply">, onChange = shared.onChange) {
    return createOperations({ ...shared, onChange, ...unbound(transactionStore) });
  }

  const limiter = {
    ...operations,
    limits,
    clock,
    acquire: (name: string, wanted = {}) => acquire(operations, sleep, name, wanted),
    prune: (pruned = {}) => prune({ store, configs, clock, apply: applier.apply }, pruned),
    using(tx: TTransaction) {
      return inside(supported(store.using, "using")(tx));
    },
    async transaction(
      run: (scope: unknown) => Promise<unknown>,
      transactionOptions = {},
    ): Promise<unknown> {
      let changes: [name: string, key: string | undefined][] = [];
      const result = await supported(store.transaction, "transaction")((tx, transactionStore) => {
        // What an earlier try changed was rolled back; and before the commit, nobody sees it.
        changes = [];
        const noteChange = (...change: (typeof changes)[number]) => void changes.push(change);
        return run({ ...inside(transactionStore, noteChange), tx });
      }, transactionOptions);
      for (const change of changes) shared.onChange(...change);
      return result;
    },
    onChange(told: ChangeListener) {
      const listener: ChangeListener = (name, key) => tell(told, name, key);
      listeners.add(listener);
      const unsubscribe = channel?.subscribe(listener);
      return () => {
        listeners.delete(listener);
        unsubscribe?.();
      };
    },
  };
  // The names are checked at run time; that they flow through the types is the interface's doing.
  return limiter as unknown as RateLimiter<TLimits, TTransaction>;
}

function supported<TMethod>(method: TMethod | undefined, name: string): TMethod {
  if (method === undefined) {
    throw new RateLimitConfigError("store", "a store without it", `one that supports ${name}`);
  }
  return method;
}
