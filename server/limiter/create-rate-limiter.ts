/**
 * The limiter: it turns names, keys and configs into decisions for a store. Every answer is a decision of
 * `core` on rows that the store keeps, or on what the parts of the limiter keep in memory: leases,
 * remembered denials and overrides.
 */
import { DAY } from "../../core/durations.js";
import { shownConfig } from "../../core/with-calendar.js";
import { OVERRIDES_NAME } from "../changes/overrides-digest.js";
import { createAcquire } from "./verbs/acquire/acquire.js";
import { afterOverrides, atOnce, type WhenKnown } from "./verbs/when-known.js";
import { CLAIM, startAutoPrune } from "./parts/auto-prune.js";
import type { KeyOptions, PlanOptions } from "./types/call.js";
import type { LimitConfigs } from "./types/names.js";
import { checkedOptions } from "./parts/checked-options.js";
import type { Context, Telling } from "./context/context.js";
import { createDecisions, UNHEARD } from "./context/decisions.js";
import { forget } from "./verbs/forget.js";
import { KEY_OPTIONS } from "./types/call.js";
import { rejectUnknownOptions } from "./types/known-options.js";
import { limit } from "./verbs/limit.js";
import type {
  DecisionEvent,
  FitsOverrides,
  PlanOption,
  RateLimiterOptions,
} from "./types/limiter-options.js";
import {
  answersOf,
  createParts,
  joinedContext,
  limiterContext,
  type Parts,
  usageOf,
} from "./parts/limiter-parts.js";
import type { ListOptions } from "./types/list.js";
import type { RateLimiter } from "./types/limiter.js";
import { listWarnings } from "./warnings/list-warnings.js";
import { openWarnings, type OpenWarnings } from "./warnings/open-warnings.js";
import { listHolds } from "./holds/list-holds.js";
import { pruneHolds } from "./parts/prune-holds.js";
import { list } from "./list/list.js";
import { limitOf } from "./list/list-rows.js";
import { createOperations } from "./verbs/operations.js";
import { fillingPlans } from "./parts/fill-plans.js";
import { withInside } from "./parts/inside.js";
import { noOverrides } from "./limits/overrides/override-operations.js";
import type { OverridesInside } from "./limits/overrides/overrides-inside.js";
import { checkPrune, prune } from "./parts/prune.js";
import { runTransaction } from "./parts/run-transaction.js";
import { usageMethods } from "./parts/usage-methods.js";
import type { EnterOptions, EnterResult } from "./types/enter.js";
import type { ResultsOf } from "./types/limit-all.js";
import type { GivenItems } from "./verbs/limit-all.js";
import { slotsClock } from "./slots/slots-clock.js";
import { noSlots } from "./slots/slots-limit.js";
import { unsupported } from "./types/unsupported.js";
import type { TransactionOptions } from "../store/store.js";
import type { OpenUsage } from "./usage/open-usage.js";

/**
 * A limiter for the limits that `limits` names, on the rows of a store. One per store and process.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 *
 * @example
 * import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";
 *
 * const limiter = createRateLimiter({
 *   store: prismaStore(prisma),
 *   limits: {
 *     sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
 *   },
 * });
 *
 * const { ok, retryAfter } = await limiter.limit("sendMessage", { key: userId });
 * if (!ok) console.log(`Try again in ${retryAfter} ms`);
 */
export function createRateLimiter<
  const TLimits extends LimitConfigs,
  TTransaction = never,
  const TPlan extends string = never,
  TAnswer extends TPlan | Promise<TPlan> = never,
>(
  options: RateLimiterOptions<TLimits, TTransaction, TPlan> & PlanOption<TAnswer> & FitsOverrides,
): RateLimiter<TLimits, TTransaction, [TAnswer] extends [never] ? "call" : "limiter"> {
  type TBy = [TAnswer] extends [never] ? "call" : "limiter";
  const parts = createParts(checkedOptions(options));
  const { settings, overriding, environment, endLeases, changes } = parts;
  const { store, clock } = settings;
  const answers = answersOf(parts, (levels) => telling.crossed(levels));
  const usage = usageOf(parts, answers);
  const telling: Telling = {
    environment,
    endLeases,
    onChange: changes.tell,
    decisions: UNHEARD,
    turn: undefined,
    usage: usage.counter,
    crossed: (levels) => warnings.crossed(levels),
  };
  const ownContext = limiterContext(parts, answers, telling);
  const warnings = warningsOf(parts, ownContext, (event) => decisions.tell(event));
  const runPrune = pruneOf(parts, ownContext, warnings);
  // `onDecision` and the channel do not hear of the calls by which `autoPrune` takes its turns.
  const unheard = limiterContext(parts, answers, { ...telling, onChange() {} });
  const turn = startTurns(parts, unheard, runPrune);
  const decisions = createDecisions(settings.onDecision);
  const heard: Telling = { ...telling, decisions, turn };
  const context = limiterContext(parts, answers, heard);
  const knowing = knownIn(parts);
  const whenKnown = withPlans(parts, knowing);
  const operations = operationsOf(parts, context, whenKnown);
  const limiter = {
    ...operations,
    ...othersOf(parts, context, { whenKnown, knowing }, operations.limitAll, usage),
    limits: options.limits,
    clock,
    onDecision: decisions.listen,
    onWarning: warnings.listen as RateLimiter<TLimits>["onWarning"],
    plans: settings.plans.shown() as RateLimiter<TLimits>["plans"],
    prune: () => runPrune(true),
    using(tx: unknown) {
      if (store.using === undefined) throw unsupported(store, "using");
      const joined = store.using(tx);
      const inside = overriding?.using({ tx, store: joined });
      return operationsInside(
        parts,
        joinedContext(
          parts,
          joined,
          parts.changed,
          { ...heard, crossed: warnings.crossedInside },
          inside,
        ),
        knownWithin(parts, tx, inside),
        inside,
      );
    },
    async transaction(
      run: (scope: object) => Promise<unknown>,
      transactionOptions: TransactionOptions = {},
    ) {
      if (parts.switching?.isOn() !== false) await overriding?.fresh();
      const overrides = overriding?.transaction();
      return runTransaction(
        {
          store,
          outage: parts.outage,
          changed: parts.changed,
          turn,
          telling: { ...telling, decisions },
          operations(tx, joined, changed, inTransaction) {
            const inside = overrides?.inside({
              tx,
              store: joined,
              changed: () => inTransaction.onChange(OVERRIDES_NAME, undefined),
            });
            const of = joinedContext(parts, joined, changed, inTransaction, inside);
            return operationsInside(parts, of, withPlans(parts, atOnce), inside);
          },
          ended: overrides?.ended,
        },
        run,
        transactionOptions,
      );
    },
  } satisfies Record<keyof RateLimiter, unknown>;
  // Which arguments a method takes depends on the types of its call, so the compiler cannot compare them.
  const typed = limiter as unknown as RateLimiter<TLimits, TTransaction, TBy>;
  return withInside(typed, { parts, context, whenKnown: knowing, decisions });
}

/** With overrides, an operation waits for the table of overrides. */
function knownIn({ overriding }: Parts): WhenKnown {
  if (overriding === undefined) return atOnce;
  return afterOverrides(
    () => overriding.fresh(),
    (name) => overriding.isOpen(name),
  );
}

/** With a `plan` function, an operation waits for the plan of its key. */
function withPlans({ asked, settings }: Parts, next: WhenKnown): WhenKnown {
  return asked === undefined ? next : fillingPlans(asked, settings.plans, next);
}

/**
 * In a transaction of the caller's own. A failure of the store has ended that transaction, so no limit is
 * open.
 */
function knownWithin(parts: Parts, tx: unknown, inside: OverridesInside | undefined): WhenKnown {
  const { overriding } = parts;
  if (overriding === undefined || inside === undefined) return withPlans(parts, atOnce);
  const after = afterOverrides(
    () => overriding.freshWithin(tx, inside),
    () => false,
  );
  return withPlans(parts, after);
}

function operationsOf({ slots, switching }: Parts, context: Context, whenKnown: WhenKnown) {
  const ofTokens = createOperations(context, whenKnown);
  const operations = slots?.operations(ofTokens, context) ?? ofTokens;
  return switching?.operations(operations, context) ?? operations;
}

function operationsInside(
  parts: Parts,
  context: Context,
  whenKnown: WhenKnown,
  inside: OverridesInside | undefined,
) {
  const overrides = inside?.operations ?? noOverrides();
  return { ...operationsOf(parts, context, whenKnown), overrides };
}

/** `enter`: the results are those of the items of `with`, in order. */
type Enter = <const TWith extends GivenItems = []>(
  name: string,
  options?: Omit<EnterOptions, "with"> & { with?: TWith | undefined },
) => Promise<EnterResult<ResultsOf<TWith>>>;

/** The methods that exist only outside of transactions. */
function othersOf(
  parts: Parts,
  context: Context,
  { whenKnown, knowing }: { whenKnown: WhenKnown; knowing: WhenKnown },
  limitAll: ReturnType<typeof createOperations>["limitAll"],
  usage: OpenUsage,
) {
  const { settings, slots, overriding, changes, environment, resolve, leases, bound, asked } =
    parts;
  const { switching } = parts;
  const acquire = whenKnown(createAcquire(context, settings.sleep));
  const enter = whenKnown(async (name: string, options?: EnterOptions) => {
    if (slots === undefined) throw noSlots(name);
    return slots.enter({ ...forEnter, limiter: context }, name, options);
  });
  const { store, configs, plans, clock, sleep, hashKey } = settings;
  // One clock for all calls: a store sends calls out together only if they go by the same clock.
  const slotClocks = slotsClock(environment, settings.hasOwnClock ? undefined : store);
  const forEnter = { ...context, ...slotClocks, sleep, listen: changes.listen, limitAll };
  // Where keys are hashed, `list` does not know for which key to ask the plan.
  const planOf = hashKey === undefined ? asked : undefined;
  const forList = {
    store,
    configs,
    plans,
    planOf,
    slots,
    clock,
    executor: context,
    leases,
    bound,
    overriding,
  };
  return {
    acquire: switching?.acquire(acquire, context) ?? acquire,
    list: knowing((name: string, options?: ListOptions) => list(forList, name, options)),
    enter: (switching?.enter(enter, context) ?? enter) as Enter,
    holds: knowing((name: string, options?: KeyOptions) =>
      listHolds(context, store, name, options),
    ),
    warnings: knowing(<TName extends string>(name: TName, options?: KeyOptions) =>
      listWarnings(context, store, name, options),
    ),
    overrides: overriding?.operations ?? noOverrides(),
    forget: (key: string) => forget({ ...parts, store, context, usage }, key),
    ...usageMethods({ ...settings, boundSums: parts.boundSums }, context, usage, knowing),
    configOf(name: string, options: KeyOptions & PlanOptions = {}) {
      rejectUnknownOptions(options, KEY_OPTIONS, "configOf()");
      const { config, plan = config === undefined ? asked?.seen(name, options.key) : undefined } =
        options;
      const of = { ...options, ...(plan !== undefined && { plan }) };
      if (slots?.has(name)) return slots.configOf(name, of);
      return shownConfig(resolve(name, of).config, 0, clock());
    },
    onChange: changes.listen,
  };
}

function warningsOf(parts: Parts, context: Context, tell: (event: DecisionEvent) => void) {
  const { settings, warn } = parts;
  const names = [...settings.configs].flatMap(([name, { warnAt }]) => (warnAt ? name : []));
  return openWarnings({ ...settings, context, names, warn, tell });
}

function pruneOf(
  { settings, bound, overriding }: Parts,
  context: Context,
  { lookForAll }: Pick<OpenWarnings, "lookForAll">,
) {
  const { store, configs, plans, clock, autoPrune } = settings;
  if (autoPrune !== false) checkPrune(store);
  const endHolds = (name: string) =>
    pruneHolds({
      ...context,
      clock,
      name,
      limitOf: (stored) =>
        limitOf({ overriding, plans }, name, stored, { config: configs.get(name)! }),
    });
  const pruning = { ...settings, bound, overriding, endHolds };
  return (withUsage: boolean) => {
    // Not waited for: a listener may take long.
    void lookForAll();
    return prune(pruning, withUsage);
  };
}

/**
 * How often `autoPrune` looks at rows of usage, ms. They are many: one for each key and hour, over
 * months.
 */
const USAGE_EVERY = DAY;

/** @returns a function that takes a turn of `autoPrune`; `undefined` where a timer takes the turns. */
function startTurns(
  { settings, outage, switching }: Parts,
  context: Context,
  runPrune: ReturnType<typeof pruneOf>,
): (() => void) | undefined {
  const { autoPrune, waitUntil, configs, slotConfigs, random } = settings;
  if (autoPrune === false) return undefined;
  async function claim(every: number, of: { key?: string } = {}) {
    if (switching?.isOn() === false) return false;
    const config = {
      kind: "fixed window",
      rate: 1,
      period: every,
      rememberDenials: 0,
      whenStoreFails: "fail",
    } as const;
    return (await limit(context, CLAIM, { ...of, config })).ok;
  }
  const hasUsage = [...configs.values()].some(({ usage }) => usage);
  return startAutoPrune(autoPrune, {
    claim: (every) => claim(every),
    async prune() {
      return runPrune(hasUsage && (await claim(USAGE_EVERY, { key: "usage" })));
    },
    failed: (error) => outage.failed(error),
    waitUntil,
    names: [...configs.keys(), ...slotConfigs.keys()],
    random,
  });
}
