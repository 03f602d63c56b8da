/** Checks the options of a limiter, and parts its limits of tokens from its limits of slots. */
import type { Bucket } from "../../../core/config.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { bucketConfig } from "../../../core/rows/credits.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import { validateConfig } from "../../../core/validate-config.js";
import { WEEK, MAX_TIMEOUT } from "../../../core/durations.js";
import { validateName } from "../../../core/validate-key.js";
import { demandOnceFor } from "../../../core/validate-once.js";
import { waitingFor } from "../../report/wait-until.js";
import { sleep as realSleep } from "../../timers/sleep.js";
import type { LimitConfigs } from "../types/names.js";
import type { RateLimiterOptions } from "../types/limiter-options.js";
import { checkPlanNames, hasPlans, PlanTable } from "../limits/plans/plan-table.js";
import type { LimitDefaults } from "../limits/resolved-limit.js";
import type { PlanResolver } from "../types/plan-types.js";
import { validateSideNames } from "./prune.js";
import { checkUsage } from "../usage/open-usage.js";

/** How long a call may wait for the store, ms. */
const DEFAULT_TIMEOUT = 2000;
/** How long sums of usage wait, ms. */
const DEFAULT_FLUSH_USAGE = 5000;

/** How long the answer of the `plan` function counts, ms. */
const DEFAULT_PLAN_FOR = 60_000;

/** The options, with any types of the limits and of a transaction. */
type GivenOptions = Omit<RateLimiterOptions<LimitConfigs>, "limits"> & {
  limits: object;
  plan?: unknown;
};

export type Settings = ReturnType<typeof checkedOptions>;

/**
 * The options of a limiter, with their defaults.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 */
export function checkedOptions(options: GivenOptions) {
  checkRequired(options);
  const { store } = options;
  const given = options.clock ?? store.clock;
  const { random = Math.random, autoPrune = false, sleep = realSleep } = options;
  const { timeout = DEFAULT_TIMEOUT, rememberDenials = 0, onceFor = WEEK, waitUntil } = options;
  const { flushUsage = DEFAULT_FLUSH_USAGE } = options;
  const plans = new PlanTable(checkPlanNames(options.plans ?? []));
  const limits = checkedLimits(options.limits, plans);
  const { planFor = DEFAULT_PLAN_FOR, plan: resolvePlan, whenStoreFails = "fail" } = options;
  const { enabled = true } = options;
  if (typeof enabled !== "boolean" && typeof enabled !== "function") {
    throw new RateLimitConfigError("enabled", enabled, "a boolean, or a function that returns one");
  }
  checkFunctions(options);
  checkTimes({ planFor, timeout, rememberDenials, onceFor, flushUsage });
  if (whenStoreFails !== "fail" && whenStoreFails !== "allow") {
    throw new RateLimitConfigError("whenStoreFails", whenStoreFails, '"fail" or "allow"');
  }
  checkUsage(
    [...limits.configs.values()].map(({ usage = false }) => usage),
    waitUntil,
    flushUsage,
  );
  /** Wraps a function, so that its promise is handed to the host. */
  const lasting: <TArgs extends unknown[]>(run: (...args: TArgs) => unknown) => typeof run =
    waitUntil === undefined ? (run) => run : (run) => waitingFor(waitUntil, run);
  return {
    ...options,
    ...limits,
    plans,
    enabled,
    resolvePlan: resolvePlan as PlanResolver | undefined,
    planFor,
    random,
    autoPrune,
    sleep,
    // An injected clock is right by definition.
    hasOwnClock: options.clock !== undefined,
    clock: given === undefined ? () => Date.now() : inWholeMs(given),
    timeout,
    defaults: { rememberDenials, whenStoreFails } satisfies LimitDefaults,
    onceFor,
    flushUsage,
    onDecision: options.onDecision && (lasting(options.onDecision) as typeof options.onDecision),
    onBatch: options.onBatch && lasting(options.onBatch),
    publish: options.channel && lasting(options.channel.publish.bind(options.channel)),
  };
}

/** @throws RateLimitConfigError for a function that is none. */
function checkFunctions({ plan, waitUntil, denialMessage }: GivenOptions): void {
  if (plan !== undefined && typeof plan !== "function") {
    throw new RateLimitConfigError("plan", plan, "a function that says the plan of a key");
  }
  if (waitUntil !== undefined && typeof waitUntil !== "function") {
    throw new RateLimitConfigError("waitUntil", waitUntil, "a function that takes a promise");
  }
  if (denialMessage !== undefined && typeof denialMessage !== "function") {
    const problem = "a function of the facts of a denial that returns its message";
    throw new RateLimitConfigError("denialMessage", denialMessage, problem);
  }
}

type Times = Record<"planFor" | "timeout" | "rememberDenials" | "onceFor" | "flushUsage", number>;

/** @throws RateLimitConfigError for a time that cannot work. */
function checkTimes({ planFor, timeout, rememberDenials, onceFor, flushUsage }: Times): void {
  for (const [option, ms] of Object.entries({ planFor, rememberDenials })) {
    if (Number.isSafeInteger(ms) && ms >= 0) continue;
    throw new RateLimitConfigError(option, ms, "a whole number of ms of at least 0");
  }
  if (!(timeout > 0)) throw new RateLimitConfigError("timeout", timeout, "a number of ms above 0");
  demandOnceFor(onceFor, "onceFor");
  if (!Number.isSafeInteger(flushUsage) || flushUsage < 1 || flushUsage > MAX_TIMEOUT) {
    throw new RateLimitConfigError("flushUsage", flushUsage, "a whole number of ms, at least 1");
  }
}

/**
 * Every clock of a limiter comes in here. In a row, a fraction of a ms says how a hold has ended, and
 * what the hold is a part of. So a clock with microseconds must not bring fractions into rows.
 */
function inWholeMs(clock: () => number): () => number {
  return () => Math.floor(clock());
}

/** In plain JavaScript, a required option may be missing. */
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
 * The configs by the names of their limits. The configs are copied, because a config that the caller
 * changes later would count for some keys only.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 */
function checkedLimits(
  limits: object,
  plans: PlanTable,
): {
  /** The configs of limits of tokens. For a limit with plans, the config of the largest plan. */
  configs: Map<string, Bucket>;
  slotConfigs: Map<string, ConcurrencyConfig>;
} {
  const configs = new Map<string, Bucket>();
  const slotConfigs = new Map<string, ConcurrencyConfig>();
  for (const [name, config] of Object.entries<LimitConfigs[string]>(limits as LimitConfigs)) {
    validateName(name);
    const own = hasPlans(config) ? plans.add(name, config).largest : config;
    validateConfig(own, `limits.${name}`);
    if (own.kind === "concurrency") {
      validateSideNames(name, own);
      slotConfigs.set(name, { ...own });
      continue;
    }
    const bucket = { ...bucketConfig(own) };
    validateSideNames(name, bucket);
    configs.set(name, bucket);
  }
  return { configs, slotConfigs };
}
