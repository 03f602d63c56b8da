/** Checks the options of `limitModel`, and the keys that its functions return. */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { plansOf, validatePlan } from "../limiter/parts/plan-of-request.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { unheld, validateTerms } from "../limiter/types/hold-terms.js";
import { keyOfAnswer } from "../limiter/types/key-answer.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { requireLimit } from "../limiter/types/named-limits.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { UntypedOperations } from "../limiter/types/untyped.js";
import type { LimitModelOptions, ProviderLimit } from "./limit-model-options.js";

export const OPTIONS = namesOf<LimitModelOptions<LimitConfigs>>({
  name: true,
  key: true,
  plan: true,
  config: true,
  provider: true,
  estimate: true,
  tokens: true,
  once: true,
  hold: true,
});
const PROVIDER_OPTIONS = namesOf<ProviderLimit>({ name: true, key: true, of: true });

export type UntypedModelLimiter = Pick<UntypedOperations, "limit" | "limitAll" | "settle"> &
  Pick<RateLimiter<LimitConfigs, never>, "limits" | "observe">;

/** The options before they are checked: plain JavaScript can pass any value. */
interface Unchecked {
  name: string;
  key: unknown;
  plan?: unknown;
  config?: unknown;
  hold?: LimitModelOptions<LimitConfigs>["hold"];
}

export function validate(
  limiter: Pick<UntypedModelLimiter, "limits">,
  { name, key, plan, config, hold }: Unchecked,
  providers: readonly ProviderLimit[],
): void {
  const { limits } = limiter;
  requireLimit(limits, name, "name");
  if (typeof key !== "function") keyOf(key, name);
  if (plan !== undefined && config !== undefined) {
    const message =
      "limitModel() takes a plan or a config, got both; a config is for what is no plan";
    throw new RateLimitConfigError("plan", plan, { message });
  }
  if (config === undefined) validatePlan("limitModel()", limiter, [name], plan);
  for (const provider of providers) {
    rejectUnknownOptions(provider, PROVIDER_OPTIONS, "provider of limitModel()");
    requireLimit(limits, provider.name, "provider.name");
    if (![undefined, "tokens", "requests"].includes(provider.of)) {
      throw new RateLimitConfigError("provider.of", provider.of, '"tokens" or "requests"');
    }
    if (limits[provider.name]!.kind === "credits") {
      const message = "a provider's limit must refill, and not be of credits";
      throw new RateLimitConfigError("provider.name", provider.name, { message });
    }
    if (plansOf(limits, provider.name) !== undefined) {
      const message = "a provider's limit must be the same for all callers, and not have plans";
      throw new RateLimitConfigError("provider.name", provider.name, { message });
    }
  }
  if (hold === undefined) return;
  validateTerms(hold);
  const names = [name, ...providers.map((provider) => provider.name)];
  if (!names.some((each) => "holds" in limits[each]! && limits[each].holds))
    throw unheld(name, hold);
}

export function keyOf(answer: unknown, name: string): string | undefined {
  return keyOfAnswer(answer, () => {
    const problem =
      `limitModel() needs a key for ${describe(name)}, got ${describe(answer)}: give it the user's id, ` +
      "or SHARED_BUCKET for the bucket that all callers share";
    return new RateLimitInputError(answer === null ? "no key" : "key", problem);
  });
}
