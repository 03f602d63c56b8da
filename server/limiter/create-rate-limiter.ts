/**
 * The limiter: it turns names, keys and configs into decisions for a store. It holds no state of
 * its own; every answer is a decision of `core` on rows that the store keeps.
 */
import { RateLimitConfigError, RateLimitStoreError } from "../../core/errors.js";
import { withListedStarts } from "../../core/with-calendar.js";
import { acquire } from "./acquire.js";
import { CLAIM, startAutoPrune } from "./auto-prune.js";
import type { ChangeListener } from "../changes/change-channel.js";
import { changeDigest } from "../changes/change-digest.js";
import { checkedLimits, checkRequired } from "./checked-limits.js";
import { createDeadline } from "./deadline.js";
import { forget } from "./forget.js";
import { KEY_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { AcquireOptions, KeyOptions, LimitConfigs } from "./call-options.js";
import type { FitsOverrides, PruneOptions, RateLimiterOptions } from "./limiter-options.js";
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
import { checkPrune, prune } from "./prune.js";
import { OVERRIDES_NAME } from "../changes/overrides-digest.js";
import { openOverrides, type OpenOverridesOptions } from "./overrides/open-overrides.js";
import { noOverrides } from "./overrides/override-operations.js";
import { withFixedRows } from "./overrides/fixed-rows.js";
import { createLimitResolver } from "./resolve-limit.js";
import { requestsOwnIo } from "../runtime/requests-own-io.js";
import { sleep as realSleep } from "../timers/sleep.js";
import { createStoredKey } from "./hash-key.js";
import { createMarkers } from "./once.js";
import { RememberedDenials } from "./remembered-denials.js";
import type { RateLimitStore, RowId } from "../store/store.js";
import { createSlots } from "./slots/create-slots.js";
import type { EnterOptions } from "./slots/enter-options.js";
import { slotsClock } from "./slots/slots-clock.js";
import { noSlots } from "./slots/slots-limit.js";
import { type Noting, runTransaction } from "./run-transaction.js";
import { unsupported } from "./unsupported.js";
import { DAY } from "../../core/durations.js";
import { demandOnceFor } from "../../core/validate-once.js";
import {
  type Executor,
  notingChanges,
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

/**
 * A limiter for the limits that `limits` names, on the rows of a store. One per store and process.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 */
export function createRateLimiter<const TLimits extends LimitConfigs, TTransaction = never>(
  options: RateLimiterOptions<TLimits, TTransaction> & FitsOverrides,
): RateLimiter<TLimits, TTransaction> {
  checkRequired(options);
  const { store, limits, random = Math.random } = options;
  const { clock = store.clock ?? (() => Date.now()) } = options;
  // A clock that was injected is right by definition.
  const clockBehind = options.clock === undefined ? store.clockBehind?.bind(store) : undefined;
  const { timeout = DEFAULT_TIMEOUT, sleep = realSleep, channel } = options;
  const { autoPrune = false, rememberDenials = 0, onBatch, waitUntil } = options;
  const { configs, slotConfigs } = checkedLimits(limits);
  if (!(timeout > 0)) throw new RateLimitConfigError("timeout", timeout, "a number of ms above 0");
  if (!Number.isSafeInteger(rememberDenials) || rememberDenials < 0) {
    const problem = "a whole number of ms of at least 0";
    throw new RateLimitConfigError("rememberDenials", rememberDenials, problem);
  }

  const { onceFor = DAY } = options;
  demandOnceFor(onceFor, "onceFor");
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
  const slots = slotConfigs.size > 0 ? createSlots(slotConfigs, toStoredKey) : undefined;
  const resolveTokens = createLimitResolver(configs, toStoredKey, rememberDenials);
  const resolveOwn = slots?.refusing(resolveTokens) ?? resolveTokens;

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
        `the rate limit store did not answer within ${timeout} ms${lateHint || (store.whyLate?.() ?? "")}`,
        {
          isOutage: store.isSilentSince?.(since) ?? true,
        },
      ),
    outage,
  );
  const bound: OpenOverridesOptions["bound"] = (work) => withinDeadline(deadline, work);
  const overriding = openOverrides(options, {
    store,
    configs,
    clock,
    rememberDenials,
    channel,
    logger,
    resolve: resolveOwn,
    bound,
    published: () => shared.onChange(OVERRIDES_NAME, undefined),
  });
  const { resolve } = overriding ?? { resolve: resolveOwn };
  /** With overrides, a call may be about rows that are not in the store. */
  const onRows = (direct: Executor) => (overriding === undefined ? direct : withFixedRows(direct));
  // There, no call can wait for what another request has sent.
  const leases = requestsOwnIo()
    ? undefined
    : new Leases<LeasedCall>(realClocks(clock, clockBehind));
  const endLeases = (row: RowId) => leases?.stop(row);
  const onDecision =
    options.onDecision && (lasting(options.onDecision) as typeof options.onDecision);
  const shared: Omit<Context, keyof Executor> = {
    resolve,
    environment: { clock, random, owner: configs },
    markerFor: createMarkers(toStoredKey, onceFor),
    mayFailOpen: true,
    endLeases,
    onDecision,
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
  const executor = onRows({ ...notingChanges(direct, changed), submit: direct.submit });
  const context: Context = { ...shared, ...executor, denials, leases, deadline };
  const operations = operationsOf(context, withOverrides);

  function operationsOf(of: Context, gated: <TPlain extends object>(plain: TPlain) => TPlain) {
    const plain = gated(createOperations(of));
    return slots?.operations(plain, of) ?? plain;
  }

  function withOverrides<TOperations extends object>(plain: TOperations): TOperations {
    return overriding?.gated(plain, true) ?? plain;
  }

  /**
   * The operations inside a transaction, whose owner bounds its time.
   *
   * @param gated lets them wait for the table of overrides. By default they go by what is known.
   */
  function inside(
    transactionStore: Pick<RateLimitStore, "apply">,
    noteChanged: (row: RowId) => void,
    noting: Noting = {},
    gated = <TPlain extends object>(plain: TPlain) => plain,
  ) {
    const joined = withoutDeadline(transactionStore, outage);
    const inTransaction = onRows(notingChanges(joined, noteChanged));
    return operationsOf({ ...shared, mayFailOpen: false, ...noting, ...inTransaction }, gated);
  }

  function onChange(listener: ChangeListener) {
    const safeListener: ChangeListener = (digest) => notify(listener, digest);
    listeners.add(safeListener);
    const unsubscribe = channel?.subscribe(safeListener);
    return () => {
      listeners.delete(safeListener);
      unsubscribe?.();
    };
  }

  /** Takes a turn of `autoPrune`, where there is no timer. */
  let prunes: (() => void) | undefined;
  const prunable = slots?.withRows(configs) ?? configs;
  const runPrune = (pruneOptions: PruneOptions = {}) =>
    prune({ store, configs: prunable, onceFor, clock, bound, overriding }, pruneOptions);
  if (autoPrune !== false) {
    checkPrune({ store, configs: prunable }, autoPrune === true ? {} : autoPrune);
    // Its claims are of no interest to `onDecision` and to the channel.
    const claims: Context = {
      ...context,
      mayFailOpen: false,
      denials: undefined,
      onDecision: undefined,
      onChange() {},
    };
    prunes = startAutoPrune(autoPrune, {
      async claim(every) {
        const config = { kind: "fixed window", rate: 1, period: every } as const;
        return (await limit(claims, CLAIM, { config })).ok;
      },
      prune: runPrune,
      failed: (error) => outage.failed(error),
      waitUntil,
      names: Object.keys(limits),
      random,
    });
    if (prunes !== undefined) {
      const turn = prunes;
      // In `shared`, too: calls in a transaction that the caller owns report by it.
      shared.onDecision = context.onDecision = (event) => {
        turn();
        return onDecision?.(event);
      };
    }
  }

  // One for all calls: a store sends calls out together if they go by the same clock.
  const slotClocks = slotsClock(
    shared.environment,
    options.clock === undefined ? store : undefined,
  );

  /** Calls that wait for the table of overrides, as the operations do. */
  const waiting = withOverrides({
    acquire: (name: string, acquireOptions?: AcquireOptions) =>
      acquire(context, sleep, name, acquireOptions),
    list: (name: string, listOptions?: ListOptions) =>
      list(
        { store, configs, slots, clock, executor, leases, bound, overriding },
        name,
        listOptions,
      ),
    async enter(name: string, enterOptions?: EnterOptions) {
      if (slots === undefined) throw noSlots(name);
      const { limitAll } = operations;
      const around = { ...slotClocks, sleep, listen: onChange, limiter: context, limitAll };
      return slots.enter({ ...shared, ...executor, ...around }, name, enterOptions);
    },
  });

  return {
    ...operations,
    limits,
    clock,
    ...waiting,
    overrides: overriding?.operations ?? noOverrides(),
    prune: runPrune,
    forget: (key) =>
      forget(
        {
          store,
          toStoredKey,
          executor,
          bound,
          onChange: shared.onChange,
          endLeases,
          forgetOverrides: overriding?.forget,
        },
        key,
      ),
    configOf(name: string, keyOptions: KeyOptions = {}) {
      rejectUnknownOptions(keyOptions, KEY_OPTIONS, "configOf()");
      if (slots?.has(name)) return slots.configOf(name, keyOptions);
      return withListedStarts(resolve(name, keyOptions).config, 0, clock());
    },
    using(tx) {
      if (store.using === undefined) throw unsupported(store, "using");
      const gated = <TPlain extends object>(plain: TPlain) =>
        overriding?.gated(plain, false, tx) ?? plain;
      return inside(store.using(tx), changed, {}, gated);
    },
    async transaction(run, transactionOptions = {}) {
      await overriding?.fresh();
      return runTransaction(
        { store, outage, inside, changed, prunes, shared: { ...shared, onDecision } },
        run as Parameters<typeof runTransaction>[1],
        transactionOptions,
      ) as Promise<never>;
    },
    onChange,
  };
}
