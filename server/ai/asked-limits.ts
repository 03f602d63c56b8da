/** The limits that `limitModel` was asked to charge, as a list of one form. */
import type { RateLimitConfig } from "../../core/limit-config.js";
import { describe, RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { demandList, validateFirst } from "../limiter/types/payers.js";
import type {
  LimitModelAllOptions,
  LimitModelOptions,
  ModelFirst,
  ModelLimit,
  ModelPayer,
  ModelUnit,
  OrFunction,
} from "./limit-model-options.js";

/** A limit that a call may be charged. */
export interface AskedLimit {
  name: string;
  /** Plain JavaScript can pass any value. */
  key: unknown;
  plan?: OrFunction<string> | undefined;
  config?: OrFunction<RateLimitConfig | undefined> | undefined;
}

/** A limit that is charged, or the limits of which the first pays. */
export interface AskedItem {
  payers: readonly AskedLimit[];
  /** Whether only the first of the limits pays that can. */
  isFirst: boolean;
  split: boolean;
  /** The plan of the payers that have neither a plan nor a config of their own. */
  plan?: OrFunction<string> | undefined;
  of: ModelUnit;
}

const LIMIT_OPTIONS = namesOf<ModelLimit<LimitConfigs>>({
  name: true,
  key: true,
  plan: true,
  config: true,
  of: true,
});
const FIRST_OPTIONS = namesOf<ModelFirst<LimitConfigs>>({
  first: true,
  key: true,
  plan: true,
  split: true,
});
const PAYER_OPTIONS = namesOf<ModelPayer<LimitConfigs>>({
  name: true,
  key: true,
  plan: true,
  config: true,
});

/** @throws RateLimitConfigError for limits that are no list, or have options that do not exist. */
export function askedItems({
  limits,
  ...one
}: LimitModelOptions<LimitConfigs> | LimitModelAllOptions<LimitConfigs>): readonly AskedItem[] {
  if (limits === undefined) {
    if (one.name !== undefined) return [itemOf([one])];
    const message = "limitModel() needs name, or limits";
    throw new RateLimitConfigError("name", one.name, { message });
  }
  for (const option of ["name", "key", "plan", "config"] as const) {
    const value = one[option];
    if (value === undefined) continue;
    const message =
      option === "name"
        ? `limitModel() takes name or limits, got both, and name ${describe(value)}`
        : `${option} of limitModel() goes with name, got it with limits: give it to each of the limits`;
    throw new RateLimitConfigError(option, value, { message });
  }
  demandList(limits, "limits of limitModel()", "limits");
  return limits.map(askedItem);
}

function askedItem(item: ModelLimit<LimitConfigs> | ModelFirst<LimitConfigs>): AskedItem {
  const isFirst = "first" in Object(item);
  if (isFirst) return askedFirst(item as ModelFirst<LimitConfigs>);
  rejectUnknownOptions(item, LIMIT_OPTIONS, "a limit of limitModel()");
  const { of = "tokens", ...limit } = item as ModelLimit<LimitConfigs>;
  validateUnit("of", of);
  return { ...itemOf([limit]), of };
}

function askedFirst(item: ModelFirst<LimitConfigs>): AskedItem {
  rejectUnknownOptions(item, FIRST_OPTIONS, "a first of limitModel()");
  const { first, key, plan, split = false } = item;
  validateFirst(item);
  const payers = first.map((payer): AskedLimit => {
    const own: ModelPayer<LimitConfigs> = typeof payer === "string" ? { name: payer } : payer;
    rejectUnknownOptions(own, PAYER_OPTIONS, "a limit of a first of limitModel()");
    return { key, ...own };
  });
  return { ...itemOf(payers), isFirst: true, split, plan };
}

function itemOf(payers: readonly AskedLimit[]): AskedItem {
  return { payers, isFirst: false, split: false, of: "tokens" };
}

/** @throws RateLimitConfigError for what limits of models do not count. */
export function validateUnit(option: string, of: unknown): void {
  if (of === undefined || of === "tokens" || of === "requests") return;
  throw new RateLimitConfigError(option, of, '"tokens" or "requests"');
}
