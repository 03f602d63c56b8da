/** Checks the options of `limitModel`, and the keys that its functions return. */
import type { AnyLimit } from "../../core/limit-config.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { plansOf, validatePlan } from "../limiter/parts/plan-of-request.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { type HoldTerms, validateHolding } from "../limiter/types/hold-terms.js";
import { keyOfAnswer } from "../limiter/types/key-answer.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { requireLimit } from "../limiter/types/named-limits.js";
import { shadowPayer } from "../limiter/types/payers.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { UntypedOperations, UntypedRateLimiter } from "../limiter/types/untyped.js";
import { type AskedItem, type AskedLimit, validateUnit } from "./asked-limits.js";
import type { LimitModelOptions, ModelSlots, ProviderLimit } from "./limit-model-options.js";

export const OPTIONS = namesOf<LimitModelOptions<LimitConfigs>>({
  name: true,
  key: true,
  plan: true,
  config: true,
  limits: true,
  provider: true,
  slots: true,
  estimate: true,
  tokens: true,
  once: true,
  hold: true,
  context: true,
});
const PROVIDER_OPTIONS = namesOf<ProviderLimit>({ name: true, key: true, of: true });
const SLOTS_OPTIONS = namesOf<ModelSlots<LimitConfigs>>({
  name: true,
  key: true,
  plan: true,
  maxWait: true,
});

export type UntypedModelLimiter = Pick<UntypedOperations, "limit" | "limitAll" | "settle"> &
  Pick<RateLimiter<LimitConfigs, never>, "limits" | "observe"> &
  Partial<Pick<UntypedRateLimiter, "enter">>;

/** The slots that a call holds. */
export interface AskedSlots extends Omit<AskedLimit, "config"> {
  maxWait?: number | undefined;
}

/** What a call of a model is charged. Plain JavaScript can pass any value. */
interface Charges {
  items: readonly AskedItem[];
  providers: readonly ProviderLimit[];
  slots: AskedSlots | undefined;
  hold?: HoldTerms | undefined;
}

/**
 * @throws RateLimitConfigError for a limit that the limiter does not have, and for an option that makes no
 * sense.
 * @throws RateLimitInputError for a key that is none.
 */
export function validate(
  limiter: Pick<UntypedModelLimiter, "limits" | "enter">,
  { items, providers, slots, hold }: Charges,
): void {
  const { limits } = limiter;
  for (const item of items) {
    for (const payer of item.payers) {
      validateLimit(limiter, payer);
      const { shadow } = limits[payer.name] as AnyLimit;
      if (item.isFirst && shadow) throw shadowPayer("first", payer.name);
    }
    validatePlans(limiter, item);
  }
  for (const provider of providers) validateProvider(limits, provider);
  if (slots !== undefined) validateSlots(limiter, slots);
  if (hold === undefined) return;
  const own = items.map(({ payers, isFirst }) => ({
    names: payers.map(({ name }) => name),
    isFirst,
  }));
  const others = providers.map(({ name }) => ({ names: [name], isFirst: false }));
  validateHolding([...own, ...others], (name) => (limits[name] as AnyLimit).holds === true, hold);
}

function validateLimit(
  limiter: Pick<UntypedModelLimiter, "limits">,
  { name, key, plan, config }: AskedLimit,
): void {
  requireLimit(limiter.limits, name, "name");
  if (limiter.limits[name]!.kind === "concurrency") {
    const message = `${describe(name)} has slots and no tokens: give it as slots of limitModel()`;
    throw new RateLimitConfigError("name", name, { message });
  }
  if (typeof key !== "function") keyOf(key, name);
  if (plan !== undefined && config !== undefined) {
    const message =
      "limitModel() takes a plan or a config, got both; a config is for what is no plan";
    throw new RateLimitConfigError("plan", plan, { message });
  }
  if (plan !== undefined) validatePlan("limitModel()", limiter, [name], plan);
}

function validatePlans(
  limiter: Pick<UntypedModelLimiter, "limits">,
  { payers, plan }: AskedItem,
): void {
  const others = payers.filter((payer) => payer.plan === undefined && payer.config === undefined);
  const names = others.map(({ name }) => name);
  if (names.length > 0 || plan !== undefined) validatePlan("limitModel()", limiter, names, plan);
}

function validateProvider(limits: LimitConfigs, provider: ProviderLimit): void {
  rejectUnknownOptions(provider, PROVIDER_OPTIONS, "provider of limitModel()");
  const { name, of } = provider;
  requireLimit(limits, name, "provider.name");
  validateUnit("provider.of", of);
  if (limits[name]!.kind === "credits") {
    const message = "a provider's limit must refill, and not be of credits";
    throw new RateLimitConfigError("provider.name", name, { message });
  }
  if (plansOf(limits, name) !== undefined) {
    const message = "a provider's limit must be the same for all callers, and not have plans";
    throw new RateLimitConfigError("provider.name", name, { message });
  }
}

function validateSlots(
  limiter: Pick<UntypedModelLimiter, "limits" | "enter">,
  slots: AskedSlots,
): void {
  rejectUnknownOptions(slots, SLOTS_OPTIONS, "slots of limitModel()");
  const { name, key, plan, maxWait } = slots;
  requireLimit(limiter.limits, name, "slots.name");
  if (limiter.limits[name]!.kind !== "concurrency") {
    const message = `slots of limitModel() needs a limit of kind "concurrency", got ${describe(name)}`;
    throw new RateLimitConfigError("slots.name", name, { message });
  }
  if (typeof limiter.enter !== "function") {
    const message = "slots of limitModel() needs the method enter of the limiter, which it lacks";
    throw new RateLimitConfigError("slots", slots, { message });
  }
  if (typeof key !== "function") keyOf(key, name);
  validatePlan("slots of limitModel()", limiter, [name], plan);
  if (maxWait !== undefined && !(maxWait >= 0)) {
    throw new RateLimitConfigError("slots.maxWait", maxWait, "a number of ms of at least 0");
  }
}

export function keyOf(answer: unknown, name: string): string | undefined {
  return keyOfAnswer(answer, () => {
    const problem =
      `limitModel() needs a key for ${describe(name)}, got ${describe(answer)}: give it the user's id, ` +
      "or SHARED_BUCKET for the bucket that all callers share";
    return new RateLimitInputError(answer === null ? "no key" : "key", problem);
  });
}
