/** Says which limit a result is about, because a result carries numbers only. */
import type { ShownConfig } from "../../core/config.js";
import type { RateLimitConfig } from "../../core/limit-config.js";
import type { RateLimitResult } from "../../core/decide.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import type { KeyOptions, PlanOptions } from "../limiter/types/call.js";
import type { LimitConfigs, LimitName } from "../limiter/types/names.js";
import type { PlanName } from "../limiter/types/plan-types.js";
import { keyOption } from "../../core/key-option.js";
import type { LimitFacts } from "./header-fields.js";

interface LimitOptionsOf<TLimits, TName> {
  /** The limiter that gave the result. */
  limiter: {
    readonly limits: TLimits;
    readonly clock: () => number;
    configOf(name: string, options: KeyOptions & PlanOptions): ShownConfig;
  };
  /** The name of the limit. */
  name: TName;
  /** The key of the call. The key decides when a fixed window without `start` begins. */
  key?: string | undefined;
  /** The plan of the call, if the call said one. */
  plan?: PlanName<TLimits> | undefined;
  /** The config of the call, if the call had one. */
  config?: RateLimitConfig | undefined;
}

/**
 * The limit that a result is about: the same name, key, plan and config as in the call. `config` is
 * required for a name that the limiter does not know, as in the call itself.
 */
export type LimitOfResult<TLimits extends LimitConfigs = LimitConfigs> =
  | LimitOptionsOf<TLimits, keyof TLimits & string>
  | (LimitOptionsOf<TLimits, LimitName<keyof TLimits & string>> & { config: RateLimitConfig });

/** Whether `value` is what a method of a limiter resolved with. */
export function isResult(value: unknown): value is RateLimitResult {
  const { ok, value: left, results } = Object(value) as Record<string, unknown>;
  return typeof ok === "boolean" && (typeof left === "number" || Array.isArray(results));
}

/**
 * The facts about the limit of a result, at this moment.
 *
 * @throws RateLimitConfigError when `limiter` or `name` is missing.
 * @throws RateLimitInputError for a result of `limitAll`, or a name without a config.
 */
export function factsOf(
  result: RateLimitResult,
  { limiter, name, key, plan, config }: Partial<LimitOfResult>,
): LimitFacts {
  if (limiter === undefined || name === undefined) {
    throw new RateLimitConfigError("limiter", limiter, {
      message: "a result does not say what it is about: pass { limiter, name } along with it",
    });
  }
  if (typeof result.value !== "number") {
    const message = "a result of limitAll is about several limits: call it with { throws: true }";
    throw new RateLimitInputError("result", message);
  }
  if (config === undefined && !Object.hasOwn(limiter.limits, name)) {
    const message = `unknown rate limit ${describe(name)}: pass the config of the call`;
    throw new RateLimitInputError("name", message);
  }
  return {
    name,
    config: limiter.configOf(name, { ...keyOption(key), plan, config }),
    value: result.value,
    now: limiter.clock(),
    // A granted call with `retryAfter` has reserved its tokens, and must not be sent again.
    ...(!result.ok && { retryAfter: result.retryAfter }),
  };
}
