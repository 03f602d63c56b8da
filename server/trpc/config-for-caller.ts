/**
 * Resolves the config of a limit for one caller, such as that of a paying user. The middleware and
 * the router share it, so that a page shows the limit by which its calls are charged.
 */
import type { LimitConfig, RateLimitConfig } from "../../core/limit-config.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { validateConfig } from "../../core/validate-config.js";
import { configText } from "../changes/watch-hub.js";
import type { LimitConfigs } from "../limiter/call-options.js";

/** The argument of the `config` function of `createRateLimitTRPC`. */
export interface ConfigResolverOptions<TContext, TName extends string> {
  /** The context of the request. For a stream, that of its start. */
  ctx: TContext;
  /** The limit that the config is for. */
  name: TName;
  /**
   * The key of the bucket, as the server resolved it; `undefined` for the bucket that all callers
   * share. Use it where the tier belongs to the bucket rather than to the caller, such as a team's.
   */
  key: string | undefined;
}

/**
 * Answers with the config of a limit for this caller. `undefined` means the limit's own. It may also
 * throw a `TRPCError`.
 */
export type ConfigResolver<TContext, TName extends string> = (
  options: ConfigResolverOptions<TContext, TName>,
) => LimitConfig | undefined | Promise<LimitConfig | undefined>;

/**
 * @returns the config of the limit for this caller; `undefined` for the limit's own. Equal configs
 * are the same text for {@link configText}.
 * @throws RateLimitConfigError for a config that is not valid. Whatever the resolver throws is
 * rethrown.
 */
export type ConfigFor = (
  ctx: unknown,
  name: string,
  key: string | undefined,
) => Promise<RateLimitConfig | undefined>;

export function createConfigFor<TContext, TName extends string>(
  resolver: ConfigResolver<TContext, TName> | undefined,
  limits: LimitConfigs,
): ConfigFor {
  if (resolver === undefined) return async () => undefined;
  const own = new Map(
    Object.entries(limits).map(([name, config]) => [
      name,
      configText(inOrder(config as RateLimitConfig)),
    ]),
  );

  return async (ctx, name, key) => {
    const answer = await resolver({ ctx: ctx as TContext, name: name as TName, key });
    if (answer === undefined) return undefined;
    const config = checked(name, answer);
    // The limiter keeps what it has calculated for the limit's own config, and for no other.
    if (configText(config) === own.get(name)) return undefined;
    // Of slots, it goes to their operations alone, which check its kind.
    return config as RateLimitConfig;
  };
}

/**
 * A copy of the answer, since the application may change its object later. Checked here: all watched
 * limits are read together, and one invalid config would fail them all.
 */
function checked(name: string, answer: LimitConfig): LimitConfig {
  try {
    const config = Object(answer) === answer ? inOrder(answer) : answer;
    validateConfig(config);
    return config;
  } catch (error) {
    const { option, value, message } = error as RateLimitConfigError;
    // The developer finds it as the `cause` of the client's error.
    throw new RateLimitConfigError(option, value, {
      message: `the config function returned an invalid config for rate limit "${name}": ${message}`,
    });
  }
}

/** A copy with the options in one order, so that equal configs have the same text. */
function inOrder(config: LimitConfig): LimitConfig {
  const options = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(options) as unknown as LimitConfig;
}
