/**
 * The limiter: it turns names, keys and configs into decisions for a store. It holds no state of
 * its own; every answer is a decision of `core` on rows that the store keeps.
 */
import type { RateLimitConfig } from "../../core/config.js";
import { RateLimitConfigError, RateLimitStoreError } from "../../core/errors.js";
import { validateName } from "../../core/validate-key.js";
import { validateConfig } from "../../core/validate-config.js";
import { acquire } from "./acquire.js";
import { CLAIM, startAutoPrune } from "./auto-prune.js";
import type { ChangeListener } from "../changes/change-channel.js";
import { changeDigest } from "../changes/change-digest.js";
import { createDeadline } from "./deadline.js";
import { forget } from "./forget.js";
import { KEY_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { AcquireOptions, KeyOptions, LimitConfigs } from "./call-options.js";
import type { PruneOptions, RateLimiterOptions } from "./limiter-options.js";
import type { ListOptions, RateLimiter } from "./limiter-types.js";
import { realClocks } from "../leases/clocks.js";
import { Leases } from "../leases/leases.js";
import type { LeasedCall } from "./leased-call.js";
import { limit } from "./limit.js";
import { list } from "./list.js";
import { loggerOf, OutageLog, poolErrorReport } from "../report/logger.js";
import { notify } from "../report/notify.js";
import { waitingFor } from "../report/wait-until.js";
import type { Context } from "./context.js";
import { createOperations } from "./operations.js";
import { checkPrune, prune, type PruneContext } from "./prune.js";
import { createLimitResolver } from "./resolve-limit.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";
import { sleep as realSleep } from "../timers/sleep.js";
import { createStoredKey } from "./hash-key.js";
import { RememberedDenials } from "./remembered-denials.js";
import type { RateLimitStore, RowId } from "../store/store.js";
import { TransactionScope } from "./transaction-scope.js";
import { unsupported } from "./unsupported.js";
import {
  type Executor,
  notingChanges,
  reportStoreError,
  withDeadline,
  withinDeadline,
  withoutDeadline,
} from "./executor.js";

/** How long a call may wait for the store, ms. */
const DEFAULT_TIMEOUT = 2000;

/** What a late answer may mean on Cloudflare Workers. */
const SHARED_CONNECTION =
  "; on Cloudflare Workers, a database client, its store and its limiter belong to one request, so " +
  "make them in its handler (a store on a binding, such as D1, may be shared)";

/** In plain JavaScript, what has to be there may be missing. */
function checkRequired(options: { store: unknown; limits: unknown } | undefined): void {
  const { store, limits } = { ...options };
  if (typeof Object(store).apply !== "function" || typeof store === "function") {
    const problem = "a store, such as prismaStore(prisma) or memoryStore()";
    throw new RateLimitConfigError("store", store, problem);
  }
  if (typeof limits !== "object" || limits === null) {
    const problem = "an object with the configs of the limits by name";
    throw new RateLimitConfigError("limits", limits, problem);
  }
}

/**
 * A limiter for the limits that `limits` names, on the rows of a store. One per store and process.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 */
export function createRateLimiter<const TLimits extends LimitConfigs, TTransaction = never>(
  options: RateLimiterOptions<TLimits, TTransaction>,
): RateLimiter<TLimits, TTransaction> {
  checkRequired(options);
  const { store, limits, random = Math.random } = options;
  const { clock = store.clock ?? (() => Date.now()) } = options;
  // A clock that was injected is right by definition.
  const clockBehind = options.clock === undefined ? store.clockBehind?.bind(store) : undefined;
  const { timeout = DEFAULT_TIMEOUT, sleep = realSleep, channel } = options;
  const { autoPrune = false, rememberDenials = 0, onBatch, waitUntil } = options;
  const configs = new Map<string, RateLimitConfig>();
  for (const [name, config] of Object.entries<RateLimitConfig>(limits)) {
    validateName(name);
    validateConfig(config, `limits.${name}`);
    // Copied, because a config that the caller changes later would count for some keys only.
    configs.set(name, { ...config });
  }
  if (!(timeout > 0)) throw new RateLimitConfigError("timeout", timeout, "a number of ms above 0");
  if (!Number.isSafeInteger(rememberDenials) || rememberDenials < 0) {
    const problem = "a whole number of ms of at least 0";
    throw new RateLimitConfigError("rememberDenials", rememberDenials, problem);
  }

  if (waitUntil !== undefined && typeof waitUntil !== "function") {
    throw new RateLimitConfigError("waitUntil", waitUntil, "a function that takes a promise");
  }

  /** The function, and its promise is handed to the host. */
  const lasting: <TArgs extends unknown[]>(run: (...args: TArgs) => unknown) => typeof run =
    waitUntil === undefined ? (run) => run : (run) => waitingFor(waitUntil, run);
  if (onBatch !== undefined) {
    const listener = lasting(onBatch);
    store.onBatch?.((event) => notify(listener, event));
  }
  const toStoredKey = createStoredKey(options.hashKey);
  const resolve = createLimitResolver(configs, toStoredKey, rememberDenials);

  const logger = loggerOf(options.logger);
  const outage = new OutageLog(logger);
  // Where requests own their I/O, a pool ends with its request, and no error of it ends a process.
  if (!requestsOwnIo()) store.onPoolError?.(poolErrorReport(logger));
  const listeners = new Set<ChangeListener>();
  const publish = channel && lasting(channel.publish.bind(channel));
  const lateHint = requestsOwnIo() ? SHARED_CONNECTION : "";
  const deadline = createDeadline(
    timeout,
    (since) =>
      new RateLimitStoreError(
        `the rate limit store did not answer within ${timeout} ms${lateHint}`,
        {
          isOutage: store.isSilentSince?.(since) ?? true,
        },
      ),
    outage,
  );
  // There, no call can wait for what another request has sent.
  const leases = requestsOwnIo()
    ? undefined
    : new Leases<LeasedCall>(realClocks(clock, clockBehind));
  const endLeases = (row: RowId) => leases?.stop(row);
  const shared: Omit<Context, keyof Executor> = {
    resolve,
    environment: { clock, random, owner: configs },
    mayFailOpen: true,
    endLeases,
    onDecision: options.onDecision && (lasting(options.onDecision) as typeof options.onDecision),
    onChange(name, key) {
      if (listeners.size === 0 && publish === undefined) return;
      const digest = changeDigest(name, key);
      for (const listener of listeners) listener(digest);
      // Its failure is ignored, or the other calls of the same batch would get no answer.
      if (publish) notify(publish, digest);
    },
  };
  const denials = new RememberedDenials(channel);
  const changed = (row: RowId) => denials.changed(row);
  const direct = withDeadline(deadline, store);
  // `limit` and `check` say themselves what they have changed.
  const executor: Executor = { ...notingChanges(direct, changed), submit: direct.submit };
  const bound: PruneContext["bound"] = (work) => withinDeadline(deadline, work);
  const context: Context = { ...shared, ...executor, denials, leases, deadline };
  const operations = createOperations(context);

  /** The operations inside a transaction, whose owner bounds its time. */
  function inside(
    transactionStore: Pick<RateLimitStore, "apply">,
    noteChanged: (row: RowId) => void,
    noting: Partial<Pick<Context, "onChange" | "environment" | "endLeases">> = {},
  ) {
    const inTransaction = notingChanges(withoutDeadline(transactionStore, outage), noteChanged);
    return createOperations({ ...shared, mayFailOpen: false, ...noting, ...inTransaction });
  }

  const runPrune = (pruneOptions: PruneOptions = {}) =>
    prune({ store, configs, clock, bound }, pruneOptions);
  if (autoPrune !== false) {
    checkPrune({ store, configs }, autoPrune === true ? {} : autoPrune);
    // Its claims are of no interest to `onDecision` and to the channel.
    const claims: Context = {
      ...context,
      mayFailOpen: false,
      denials: undefined,
      onDecision: undefined,
      onChange() {},
    };
    const prunes = startAutoPrune(autoPrune, {
      async claim(every) {
        const config = { kind: "fixed window", rate: 1, period: every } as const;
        return (await limit(claims, CLAIM, { config })).ok;
      },
      prune: runPrune,
      failed: (error) => outage.failed(error),
      waitUntil,
      names: [...configs.keys()],
      random,
    });
    if (prunes !== undefined) {
      const { onDecision } = context;
      context.onDecision = (event) => {
        prunes();
        return onDecision?.(event);
      };
    }
  }

  return {
    ...operations,
    limits,
    clock,
    acquire: (name: string, acquireOptions?: AcquireOptions) =>
      acquire(context, sleep, name, acquireOptions),
    prune: runPrune,
    forget: (key) =>
      forget({ store, toStoredKey, executor, bound, onChange: shared.onChange, endLeases }, key),
    list: (name: string, listOptions?: ListOptions) =>
      list({ store, configs, clock, executor, leases, bound }, name, listOptions),
    configOf(name: string, keyOptions: KeyOptions = {}) {
      rejectUnknownOptions(keyOptions, KEY_OPTIONS, "configOf()");
      return resolve(name, keyOptions).config;
    },
    using(tx) {
      if (store.using === undefined) throw unsupported(store, "using");
      return inside(store.using(tx), changed);
    },
    async transaction(run, transactionOptions = {}) {
      if (store.transaction === undefined) throw unsupported(store, "transaction");
      let changes: [name: string, key: string | undefined][] = [];
      let scope: TransactionScope | undefined;
      const touched: RowId[] = [];
      const filled: RowId[] = [];
      const running = store.transaction(async (tx, transactionStore) => {
        // The changes of an earlier try were rolled back.
        changes = [];
        scope?.end("rolled back");
        const attempt = (scope = new TransactionScope());
        const noteTouched = (row: RowId) => void touched.push(row);
        const noting = {
          onChange: (...change: (typeof changes)[number]) => void changes.push(change),
          environment: { ...shared.environment, scope },
          endLeases(row: RowId) {
            endLeases(row);
            filled.push(row);
          },
        };
        const returned = await run({ ...inside(transactionStore, noteTouched, noting), tx });
        attempt.isRun = true;
        return returned;
      }, transactionOptions);
      // Also if it fails, because a commit may have lost its answer.
      const ended = running.finally(() => {
        touched.forEach(changed);
        filled.forEach(endLeases);
      });
      const result = await ended.catch((error: unknown) => {
        scope?.end(scope.isRun ? "unknown" : "rolled back");
        reportStoreError(outage, error);
        throw error;
      });
      scope?.end("committed");
      // After the commit: before it, a reader would still find the old state.
      for (const change of changes) shared.onChange(...change);
      return result;
    },
    onChange(listener) {
      const safeListener: ChangeListener = (digest) => notify(listener, digest);
      listeners.add(safeListener);
      const unsubscribe = channel?.subscribe(safeListener);
      return () => {
        listeners.delete(safeListener);
        unsubscribe?.();
      };
    },
  };
}
