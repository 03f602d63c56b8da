/** The parts of a limiter that all of its operations share, and the contexts that are made of them. */
import { RateLimitStoreError } from "../../../core/errors.js";
import { OVERRIDES_NAME } from "../../changes/overrides-digest.js";
import { realClocks } from "../../leases/clocks.js";
import { Leases } from "../../leases/leases.js";
import { loggerOf, OutageLog, poolErrorReport } from "../../report/logger.js";
import { notify } from "../../report/notify.js";
import { createOccasionalWarning } from "../../report/occasional-warning.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { earliestByList } from "../../store/earliest-by-list.js";
import type { JoinedStore, RowId } from "../../store/store.js";
import type { Line } from "../context/line.js";
import { joinedAnswers, limiterAnswers } from "../answers/answers.js";
import type { Answers } from "../answers/asked.js";
import type { WaitingCall } from "../answers/leased.js";
import { createDeadline, type Deadline, withinDeadline } from "../answers/deadline.js";
import { RememberedDenials } from "../answers/remembered-denials.js";
import type { Settings } from "./checked-options.js";
import { createSwitch } from "./enabled.js";
import { type Context, createChanges, type Telling } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { createStoredKey } from "../limits/hash-key.js";
import { createSharedHolds } from "../context/shared-holds.js";
import { createMarkers } from "../claims/markers.js";
import { AskedPlans } from "../limits/plans/asked-plans.js";
import { openOverrides } from "../limits/overrides/open-overrides.js";
import type { OverridesInside } from "../limits/overrides/overrides-inside.js";
import { createLimitResolver } from "../limits/limit-resolver.js";
import { createSlots } from "../slots/create-slots.js";
import { openUsage, type OpenUsage } from "../usage/open-usage.js";

/** How long the sums over all counters of a limit may take, ms. */
const SUMS_TIMEOUT = 20_000;

export type Parts = ReturnType<typeof createParts>;

export function createParts(settings: Settings) {
  const { store, clock, random, channel, configs, slotConfigs, plans, defaults } = settings;
  const { onBatch } = settings;
  if (onBatch !== undefined) store.onBatch?.((event) => notify(onBatch, event));
  const toStoredKey = createStoredKey(settings.hashKey);
  const slots = slotConfigs.size > 0 ? createSlots(slotConfigs, plans, toStoredKey) : undefined;
  const resolveTokens = createLimitResolver(configs, plans, toStoredKey, defaults);
  const resolveOwn = slots?.refusing(resolveTokens) ?? resolveTokens;
  const logger = loggerOf(settings.logger);
  const outage = new OutageLog(logger);
  // Where requests own their I/O, a pool ends with its request, and no error of the pool ends a process.
  if (!requestsOwnIo()) store.onPoolError?.(poolErrorReport(logger));
  const deadline = deadlineOf(settings, outage);
  const bound: Bound = (work) => withinDeadline(deadline, work);
  const longest = { ...settings, timeout: Math.max(settings.timeout, SUMS_TIMEOUT) };
  const forSums = deadlineOf(longest, outage);
  const changes = createChanges(channel, settings.publish);
  // Where requests own their I/O, no call can wait for a take that another request has sent.
  const leases = requestsOwnIo() ? undefined : leasesOf(settings);
  const denials = new RememberedDenials(channel);
  const changed = (row: RowId) => denials.changed(row);
  const endLeases = (row: RowId) => leases?.stop(row);
  const overriding = openOverrides(settings, {
    store,
    configs,
    plans,
    clock,
    defaults,
    channel,
    logger,
    bound,
    resolve: resolveOwn,
    published: () => changes.tell(OVERRIDES_NAME, undefined),
  });
  const resolve: Context["resolve"] =
    overriding === undefined ? resolveOwn : (...of) => overriding.resolve(...of);
  const switching = createSwitch({ settings, logger, toStoredKey, resolve: resolveOwn });
  const environment: Environment = {
    clock,
    random,
    owner: configs,
    denialMessage: settings.denialMessage,
  };
  const markerFor = createMarkers(toStoredKey, settings.onceFor, clock);
  const warn = createOccasionalWarning(logger);
  const { resolvePlan: resolver, planFor, timeout } = settings;
  const asked = resolver && new AskedPlans({ resolver, plans, planFor, timeout, channel, warn });
  if (asked !== undefined) changes.hearPlans((digest) => asked.changed(digest));
  return {
    settings,
    toStoredKey,
    slots,
    outage,
    logger,
    deadline,
    bound,
    /** Bounds a statement over all counters of a limit, which may take longer than a call. */
    boundSums: ((work) => withinDeadline(forSums, work)) as Bound,
    changes,
    overriding,
    resolve,
    leases,
    lines: requestsOwnIo() ? undefined : new Map<string, Line>(),
    environment,
    denials,
    changed,
    markerFor,
    warn,
    asked,
    endLeases,
    switching,
    // A result of a call that passed while the limits were off can be settled when they are on again.
    hasFixed: overriding !== undefined || plans.hasFixed || switching?.mayBeOn === true,
  };
}

type Bound = <TResult>(
  work: (call: Parameters<Parameters<typeof withinDeadline>[1]>[0]) => Promise<TResult>,
) => Promise<TResult>;

/** The likely cause of a late answer on Cloudflare Workers. */
const SHARED_CONNECTION =
  "; on Cloudflare Workers, a database client, its store and its limiter belong to one request, so " +
  "make them in its handler (a store on a binding, such as D1, may be shared)";

function deadlineOf({ store, timeout }: Settings, outage: OutageLog): Deadline {
  const lateHint = requestsOwnIo() ? SHARED_CONNECTION : "";
  const late = (since: number) =>
    new RateLimitStoreError(
      `the rate limit store did not answer within ${timeout} ms${lateHint || (store.whyLate?.() ?? "")}`,
      { isOutage: store.isSilentSince?.(since) ?? true },
    );
  return createDeadline(timeout, late, outage);
}

function leasesOf({ store, clock, hasOwnClock }: Settings): Leases<WaitingCall> {
  return new Leases(realClocks(clock, hasOwnClock ? undefined : store.clockBehind?.bind(store)));
}

/** The chains of the limiter itself. */
export function answersOf(parts: Parts, crossed: Telling["crossed"]): Answers {
  const { settings, environment, denials, changes } = parts;
  return limiterAnswers({
    ...parts,
    crossed,
    store: settings.store,
    clock: environment.clock,
    blockTaken(limit) {
      denials.used(limit, true);
      changes.tell(limit.name, limit.key);
    },
  });
}

/** Sums up usage, and writes it. */
export function usageOf({ settings, environment, logger }: Parts, { ask }: Answers): OpenUsage {
  const { flushUsage, waitUntil } = settings;
  return openUsage({ ask, clock: environment.clock, every: flushUsage, waitUntil, logger });
}

/** The context of the limiter's own operations. */
export function limiterContext(parts: Parts, answers: Answers, telling: Telling): Context {
  const { denials, leases, lines } = parts;
  const { bound, settings } = parts;
  const { store, sleep } = settings;
  // `store.list` is looked up with each page, because the store may not be open yet.
  const list: Context["list"] = async (...page) =>
    store.list === undefined ? [] : bound(() => store.list!(...page));
  const earliest: Context["earliest"] = async (...of) =>
    store.earliest === undefined
      ? earliestByList(answers.apply, list, ...of)
      : bound(() => store.earliest!(...of));
  const shared = requestsOwnIo() ? undefined : createSharedHolds();
  const pause = (ms: number) => sleep(ms);
  const own = { list, earliest, shared, denials, leases, lines, pause };
  return { ...contextOf(parts, answers, telling), ...own };
}

/** The context of the operations inside a transaction. */
export function joinedContext(
  parts: Parts,
  store: JoinedStore,
  changed: (row: RowId) => void,
  telling: Telling,
  inside: OverridesInside | undefined,
): Context {
  const list: Context["list"] = async (...page) => (await store.list?.(...page)) ?? [];
  const answers = joinedAnswers(store, { ...parts, changed, crossed: telling.crossed });
  const earliest: Context["earliest"] = async (...of) =>
    store.earliest?.(...of) ?? earliestByList(answers.apply, list, ...of);
  const context: Context = { ...contextOf(parts, answers, telling), list, earliest };
  return inside === undefined ? context : { ...context, resolve: (...of) => inside.resolve(...of) };
}

function contextOf(
  { resolve, markerFor, warn, settings: { onceFor, timeout, plans } }: Parts,
  answers: Answers,
  telling: Telling,
): Omit<Context, "list" | "earliest"> {
  return {
    ...answers,
    ...telling,
    resolve,
    plans,
    markerFor,
    onceFor,
    timeout,
    warn,
    shared: undefined,
    denials: undefined,
    leases: undefined,
    lines: undefined,
    pause: undefined,
  };
}
