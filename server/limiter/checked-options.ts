/** Checks the limits of a limiter, and tells those of tokens from those of slots. */
import type { ConcurrencyConfig, RateLimitConfig } from "../../core/config.js";
import { bucketConfig } from "../../core/credits.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { validateConfig } from "../../core/validate-config.js";
import { validateName } from "../../core/validate-key.js";
import type { LimitConfigs } from "./call-options.js";
import { validateSideNames } from "./prune.js";

/** In plain JavaScript, what has to be there may be missing. */
export function checkRequired(options: { store: unknown; limits: unknown } | undefined): void {
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
 * The configs by the names of their limits. They are copied, because a config that the caller changes
 * later would count for some keys only.
 *
 * @throws RateLimitConfigError for a config that no limit could work with, quoting the option.
 * @throws RateLimitInputError for a name that is not valid.
 */
export function checkedLimits(limits: object): {
  /** Of tokens. */
  configs: Map<string, RateLimitConfig>;
  slotConfigs: Map<string, ConcurrencyConfig>;
} {
  const configs = new Map<string, RateLimitConfig>();
  const slotConfigs = new Map<string, ConcurrencyConfig>();
  for (const [name, config] of Object.entries<LimitConfigs[string]>(limits as LimitConfigs)) {
    validateName(name);
    validateConfig(config, `limits.${name}`);
    if (config.kind === "concurrency") {
      slotConfigs.set(name, { ...config });
      continue;
    }
    const bucket = { ...bucketConfig(config) };
    validateSideNames(name, bucket);
    configs.set(name, bucket);
  }
  return { configs, slotConfigs };
}
