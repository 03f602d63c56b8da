/** The plans of a limiter: the config or the answer for calls, by the name of a limit and of a plan. */
import { capacityOf, type Bucket } from "../../../../core/config.js";
import type { LimitConfig } from "../../../../core/limit-config.js";
import { describe, RateLimitConfigError } from "../../../../core/errors.js";
import { validateConfig } from "../../../../core/validate-config.js";
import type { PlannedConfig, PlanTerms } from "../../types/plan-types.js";

/** The entry of a plan for a limit: a config, or an answer to every call. */
export type PlanEntry = LimitConfig | "unlimited" | "none";

/** A limit with plans. */
export interface PlannedLimit {
  /** By the name of a plan. */
  readonly entries: ReadonlyMap<string, PlanEntry>;
  /** By the name of a plan: the id of the limit and the plan in a cache. No limit has such a name. */
  readonly ids: ReadonlyMap<string, string>;
  /**
   * The config of the plan with the most tokens or slots, for calls that need not say a plan, such as
   * `settle`. This config reads every row as its writer has left it.
   */
  readonly largest: LimitConfig;
  /** The configs of all plans that have a config. */
  readonly configs: readonly LimitConfig[];
}

export class PlanTable {
  private readonly limits = new Map<string, PlannedLimit>();

  constructor(readonly names: readonly string[]) {}

  has(limit: string): boolean {
    return this.limits.has(limit);
  }

  /** Whether a plan of any limit answers calls without their rows. */
  get hasFixed(): boolean {
    return [...this.limits.values()].some(({ configs, entries }) => configs.length < entries.size);
  }

  of(limit: string): PlannedLimit | undefined {
    return this.limits.get(limit);
  }

  /**
   * The configs of the plans of a limit of tokens; `undefined` where the limit has no plans, or no plan
   * has a config.
   */
  bucketsOf(limit: string): readonly Bucket[] | undefined {
    const { configs = [] } = this.limits.get(limit) ?? {};
    return configs.length === 0 ? undefined : (configs as readonly Bucket[]);
  }

  /**
   * @throws RateLimitConfigError for other plans than those of the limiter, and for a config that cannot
   * work.
   */
  add(name: string, given: PlannedConfig): PlannedLimit {
    const path = `limits.${name}`;
    const { plans, ...shared } = given;
    if (typeof plans !== "object" || plans === null) {
      throw new RateLimitConfigError(
        `${path}.plans`,
        plans,
        "an object with an entry for each plan",
      );
    }
    this.checkNames(`${path}.plans`, plans);
    const entries = new Map<string, PlanEntry>();
    for (const plan of this.names) {
      entries.set(plan, entryOf(shared, plans[plan]!, `${path}.plans.${plan}`));
    }
    const configs = [...entries.values()].filter((entry) => typeof entry !== "string");
    // Where every plan is an answer, the rows of the limit are never asked, so any config will do.
    const largest =
      configs.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] ?? configOf(shared, 1, path);
    const ids = new Map(this.names.map((plan) => [plan, `${name}\0${plan}`]));
    const limit = { entries, ids, largest, configs };
    this.limits.set(name, limit);
    return limit;
  }

  private checkNames(path: string, plans: object): void {
    const missing = this.names.find((plan) => !Object.hasOwn(plans, plan));
    if (missing !== undefined) {
      const message = `${path} has no entry for the plan ${describe(missing)}; "none" denies every call`;
      throw new RateLimitConfigError(`${path}.${missing}`, undefined, { message });
    }
    const other = Object.keys(plans).find((plan) => !this.names.includes(plan));
    if (other === undefined) return;
    const known = this.names.map((plan) => describe(plan)).join(", ") || "none";
    const message = `${path}.${other} is no plan of the limiter; its plans are ${known}`;
    throw new RateLimitConfigError(`${path}.${other}`, plans[other as never], { message });
  }

  /**
   * The entry of a plan for a limit.
   *
   * @throws RateLimitConfigError for a plan that the limiter lacks, and for a limit without plans.
   */
  entry(name: string, plan: string): PlanEntry {
    this.idOf(name, plan, true);
    return this.limits.get(name)!.entries.get(plan)!;
  }

  /**
   * The id of the limit and the plan of a call in a cache. Throws as `entry` does.
   *
   * @param needsPlan whether a call without a plan is refused, on a limit that has plans.
   */
  idOf(name: string, plan: string | undefined, needsPlan: boolean): string {
    if (plan === undefined) {
      if (needsPlan && this.has(name)) throw planMissing(name, this);
      return name;
    }
    const limit = this.limits.get(name);
    if (limit === undefined) throw withoutPlans(name, plan);
    const id = limit.ids.get(plan);
    if (id !== undefined) return id;
    throw new RateLimitConfigError("plan", plan, `one of ${this.names.map(describe).join(", ")}`);
  }

  /** For a page of prices. */
  shown(): Record<string, Record<string, object | string>> {
    const table: Record<string, Record<string, object | string>> = {};
    for (const plan of this.names) {
      const ofPlan: Record<string, object | string> = (table[plan] = {});
      for (const [name, { entries }] of this.limits) ofPlan[name] = shownEntry(entries.get(plan)!);
    }
    return table;
  }
}

/**
 * @throws RateLimitConfigError for a value that is no list of names, and for a name that is there twice.
 */
export function checkPlanNames(plans: unknown): readonly string[] {
  const isList = Array.isArray(plans) && plans.every((plan) => typeof plan === "string" && plan);
  if (!isList) throw new RateLimitConfigError("plans", plans, "a list of the names of plans");
  const names = plans as readonly string[];
  const twice = names.find((plan, i) => names.indexOf(plan) < i);
  if (twice === undefined) return [...names];
  const message = `plans has ${describe(twice)} twice; name each plan once`;
  throw new RateLimitConfigError("plans", plans, { message });
}

/** The error of a call with a plan on a limit that has none. */
export function withoutPlans(name: string, plan: unknown): RateLimitConfigError {
  const message = `${describe(name)} has no plans, got plan ${describe(plan)}; leave it out, or give the limit plans`;
  return new RateLimitConfigError("plan", plan, { message });
}

/** The error of a call that has to say its plan. */
function planMissing(name: string, { names }: PlanTable): RateLimitConfigError {
  const known = names.map(describe).join(", ");
  const message =
    `${describe(name)} has plans, so a call has to say one of ${known}: ` +
    "limit(name, { key, plan }); or say it once for the limiter, with its option plan";
  return new RateLimitConfigError("plan", undefined, { message });
}

function entryOf(shared: object, terms: PlanTerms, path: string): PlanEntry {
  const isSlots = (shared as LimitConfig).kind === "concurrency";
  if (terms === "unlimited" || terms === "none") {
    if (!isSlots) return terms;
    throw new RateLimitConfigError(
      path,
      terms,
      "a number of slots: a plan has some, and at most 1,000",
    );
  }
  if (isSlots && typeof terms !== "number") {
    throw new RateLimitConfigError(path, terms, "a number of slots");
  }
  if (typeof terms !== "number" && (typeof terms !== "object" || terms === null)) {
    throw new RateLimitConfigError(
      path,
      terms,
      'a rate, { rate, capacity }, "unlimited" or "none"',
    );
  }
  return configOf(shared, terms, path);
}

const TERMS: ReadonlySet<string> = new Set(["rate", "capacity", "maxReserved"]);

function configOf(shared: object, terms: number | object, path: string): LimitConfig {
  const isSlots = (shared as LimitConfig).kind === "concurrency";
  for (const option of ["rate", "capacity", "maxReserved", "slots"]) {
    if (!Object.hasOwn(shared, option)) continue;
    const message = `${option} does not go beside plans: each plan has its own, in ${path}`;
    throw new RateLimitConfigError(option, (shared as never)[option], { message });
  }
  if (typeof terms === "object") {
    const other = Object.keys(terms).find((option) => !TERMS.has(option));
    if (other !== undefined) {
      const message = `${path}.${other} is not an option of a plan; use ${[...TERMS].join(", ")}`;
      throw new RateLimitConfigError(`${path}.${other}`, terms[other as never], { message });
    }
  }
  const own = typeof terms === "object" ? terms : isSlots ? { slots: terms } : { rate: terms };
  const config = { ...shared, ...own } as LimitConfig;
  validateConfig(config, path);
  if (config.kind !== "credits") return Object.freeze(config);
  const message = `${path} cannot be credits: a balance has no rate that a plan could set; leave plans out`;
  throw new RateLimitConfigError(path, config.kind, { message });
}

function sizeOf(config: LimitConfig): number {
  return config.kind === "concurrency" ? config.slots : capacityOf(config as Bucket);
}

/** The entry without the options that are of no interest to customers or that attackers must not know. */
function shownEntry(entry: PlanEntry): object | string {
  if (typeof entry === "string" || entry.kind === "concurrency") return entry;
  return Object.fromEntries(Object.entries(entry).filter(([option]) => !NOT_SHOWN.has(option)));
}

const NOT_SHOWN: ReadonlySet<string> = new Set([
  "whenStoreFails",
  "rememberDenials",
  "lease",
  "onceFor",
  "holds",
  "usage",
  "shadow",
] satisfies (keyof Bucket)[]);

/** Whether a limit has plans. The plans themselves are checked later. */
export function hasPlans(config: LimitConfig | PlannedConfig): config is PlannedConfig {
  return typeof config === "object" && config !== null && "plans" in config;
}
