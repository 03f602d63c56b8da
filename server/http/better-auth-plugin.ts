/**
 * A plugin of better-auth that charges its endpoints by limits of a limiter: per account, per
 * address, or by any other key of the request. There is no import of better-auth: the types are its
 * types by structure.
 */
import { RateLimitConfigError } from "../../core/errors.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import type { PlanName } from "../limiter/types/plan-types.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { noKey } from "../limiter/types/key-answer.js";
import { requireLimit } from "../limiter/types/named-limits.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import { accountOf, type PluginWithEndpoints, warningOfAccounts } from "./better-auth-account.js";
import { type BetterAuthError, toBetterAuthError } from "./better-auth-error.js";
import { shortKey } from "./better-auth-key.js";
import { demandBetterAuth } from "./better-auth-version.js";
import {
  type ChargedOn,
  type ChargedRequest,
  chargeRequest,
  type ChargingLimiter,
  type RequestItem,
  settleRequest,
  validateCharging,
} from "../hosts/charge-request.js";
import { refusalOf, type RateLimitRefusal } from "../hosts/refusal.js";
import { type RateLimitHeadersOptions, validateXRateLimit } from "./x-rate-limit.js";
import { planOption, validatePlan } from "../limiter/parts/plan-of-request.js";

/** A request to better-auth, as the functions of a rule receive it. */
export interface BetterAuthCall {
  /** The endpoint's path, such as `/sign-in/email`. */
  path: string;
  /**
   * The name of the account: `email`, `username` or `phoneNumber` of the body, by which of the three this
   * endpoint of better-auth reads. The name is in lower case, and without spaces around it. `undefined`
   * where the body lacks the field, and for endpoints that are not better-auth's: read `body` there.
   */
  account: string | undefined;
  /** The header fields of the request; empty in a call of `auth.api` without `headers`. */
  headers: Headers;
  /** The body, which is not validated yet. */
  body: unknown;
}

/** One limit of one endpoint. */
export interface BetterAuthRule<TName extends string = string, TPlan extends string = never> {
  /** The limit. */
  name: TName;
  /**
   * The bucket of a request. A key of more than 191 characters is replaced by its SHA-256. A request
   * without a key (`null`, `undefined`), or with a key that is not valid, is refused with 400.
   */
  key: (call: BetterAuthCall) => string | null | undefined | Promise<string | null | undefined>;
  /**
   * The plan of a request, or a function that returns the plan. For a limit with plans.
   * @default what the `plan` function of the limiter says
   */
  plan?: TPlan | ((call: BetterAuthCall) => TPlan | Promise<TPlan>) | undefined;
  /**
   * The requests that cost a token: every request, every request that succeeds, every request that fails,
   * or every request with an error for which the function returns true. Each request is charged first.
   * Afterwards, the tokens of requests that cost none are given back. A hundred guesses at once thus get
   * no further than a hundred guesses in a row.
   * @default "call"
   */
  on?: ChargedOn<BetterAuthError> | undefined;
  /** Fill the bucket when the endpoint succeeds, for example after a log-in. @default false */
  resetOnSuccess?: boolean | undefined;
}

/** Endpoints that are often limited, for the autocompletion of an editor. */
type KnownPath =
  | "/sign-in/email"
  | "/sign-in/username"
  | "/sign-in/phone-number"
  | "/sign-in/magic-link"
  | "/sign-in/email-otp"
  | "/sign-up/email"
  | "/request-password-reset"
  | "/reset-password"
  | "/change-password"
  | "/send-verification-email"
  | "/two-factor/verify-totp"
  | "/two-factor/verify-otp"
  | "/two-factor/verify-backup-code";

/** The limits of each endpoint, by its path: exact, or the begin of paths with `/*` at its end. */
export type BetterAuthRules<TName extends string = string, TPlan extends string = never> = {
  [TPath in KnownPath | (string & {})]?:
    BetterAuthRule<TName, TPlan> | readonly BetterAuthRule<TName, TPlan>[] | undefined;
};

/** The parts that are used here of the argument of better-auth's hooks. */
interface HookContext {
  path?: string;
  headers?: Headers | HeadersInit | undefined;
  body?: unknown;
  context?: object;
}

/** The parts that are used here of the facts that better-auth tells its plugins at start. */
interface StartContext {
  /** The version of better-auth. */
  version?: string | undefined;
  options: {
    plugins?: readonly PluginWithEndpoints[] | undefined;
  };
  logger: { warn(message: string): void };
}

interface Hook<TResult> {
  matcher(context: HookContext): boolean;
  handler: ((context: HookContext) => Promise<TResult>) & { options: object };
}

/** A `BetterAuthPlugin` of better-auth, by structure. */
export interface BetterAuthPlugin {
  /** The name of the plugin. */
  id: "trpc-rate-limit";
  /**
   * Warns of endpoints at which a rule needs an account that is not known. Throws where better-auth is
   * older than 1.7.
   */
  init(context: StartContext): void;
  /** The hooks charge a request before its endpoint runs, and settle the charge afterwards. */
  hooks: { before: [Hook<undefined>]; after: [Hook<object>] };
}

/** The options of `betterAuthPlugin`. */
export interface BetterAuthPluginOptions extends RateLimitHeadersOptions {
  /**
   * Your own answer to a request that is not let through: an `APIError` of better-auth, or another error,
   * which the plugin throws.
   *
   * - `refusal` says why, with the error: its `reason` is `"denied"`, `"no key"`, `"invalid input"` or
   *   `"store failure"`.
   * - `error` is the error that is thrown otherwise, with its `body` and its header fields.
   * @default returns `error`
   */
  respond?:
    | ((
        call: BetterAuthCall,
        refusal: RateLimitRefusal,
        error: BetterAuthError,
      ) => Error | Promise<Error>)
    | undefined;
}

const PLUGIN_OPTIONS = namesOf<BetterAuthPluginOptions>({ respond: true, xRateLimit: true });

/** A rule of any limiter. */
type AnyRule = BetterAuthRule<string, string>;

const RULE_OPTIONS = namesOf<AnyRule>({
  name: true,
  key: true,
  plan: true,
  on: true,
  resetOnSuccess: true,
});

/**
 * For better-auth's `plugins: [betterAuthPlugin(limiter, rules)]`. Put this plugin last: a request that a
 * later plugin refuses stays charged. Needs better-auth 1.7 or later.
 *
 * The limits of one endpoint are charged all or nothing. A denied request is answered by 429 with
 * `rateLimitHeaders`; its JSON has `rateLimit`, the facts of the denial. While the store fails, the
 * answer is 503, unless the limit has `whenStoreFails: "allow"`. Calls of `auth.api` count like requests;
 * a denied call throws the error. With `respond`, the answers are your own.
 *
 * @throws RateLimitConfigError for a limit that the limiter does not have, and for an option that
 * does not exist or makes no sense.
 *
 * @example
 * import { betterAuthPlugin } from "trpc-rate-limit/server";
 *
 * const limits = betterAuthPlugin(limiter, {
 *   "/sign-in/email": [{ name: "logIn", key: ({ account }) => account }],
 * });
 * // betterAuth({ plugins: [...others, limits] })
 */
export function betterAuthPlugin<TLimits extends LimitConfigs>(
  limiter: ChargingLimiter<TLimits>,
  rules: BetterAuthRules<keyof TLimits & string, PlanName<TLimits>>,
  options: BetterAuthPluginOptions = {},
): BetterAuthPlugin {
  /**
   * The property of better-auth's context of the call that holds the charge. A `WeakMap` by context would
   * lose the charge, because better-auth copies the context where another plugin changes it. Each plugin
   * has a symbol of its own, because two plugins may each have a limiter.
   */
  const charge: unique symbol = Symbol("trpc-rate-limit");
  const untyped = limiter as unknown as UntypedRateLimiter;
  const byPath = validated(rules, untyped);
  validateOptions(options);
  const rulesOf = ({ path = "" }: HookContext) =>
    byPath.filter(([pattern]) => matches(pattern, path)).flatMap(([, some]) => some);
  const matcher = (context: HookContext) => rulesOf(context).length > 0;

  async function before(context: HookContext): Promise<undefined> {
    const call = callOf(context);
    try {
      const items = await itemsOf(untyped, rulesOf(context), call);
      const charged = await chargeRequest(untyped, items, context);
      Object.assign(context.context ?? {}, { [charge]: charged });
    } catch (error) {
      throw await answerOf(error, call, options);
    }
  }

  async function after({ context }: HookContext): Promise<object> {
    const { [charge]: charged, returned } = (context ?? {}) as {
      [charge]?: ChargedRequest<BetterAuthError>;
      returned?: unknown;
    };
    if (charged !== undefined) await settleRequest(untyped, charged, failureOf(returned));
    // An empty object keeps the response of the endpoint.
    return {};
  }

  return {
    id: "trpc-rate-limit",
    init({ options: ofAuth, logger, version }) {
      demandBetterAuth(version, "betterAuthPlugin");
      const all = byPath.flatMap(([pattern, some]) => some.map(({ key }) => ({ pattern, key })));
      const warning = warningOfAccounts(all, ofAuth.plugins ?? [], matches);
      if (warning !== undefined) logger.warn(warning);
    },
    hooks: {
      before: [{ matcher, handler: Object.assign(before, { options: {} }) }],
      after: [{ matcher, handler: Object.assign(after, { options: {} }) }],
    },
  };
}

/** The error that answers a request which is not let through. */
async function answerOf(
  error: unknown,
  call: BetterAuthCall,
  { respond, ...headers }: BetterAuthPluginOptions,
): Promise<unknown> {
  const answer = toBetterAuthError(error, headers);
  const refusal = answer === error ? undefined : refusalOf(error);
  if (respond === undefined || refusal === undefined) return answer;
  return respond(call, refusal, answer as BetterAuthError);
}

function validateOptions(options: BetterAuthPluginOptions): void {
  rejectUnknownOptions(options, PLUGIN_OPTIONS, "betterAuthPlugin()");
  validateXRateLimit(options);
  const { respond } = options;
  if (respond === undefined || typeof respond === "function") return;
  throw new RateLimitConfigError("respond", respond, "a function of the request");
}

async function itemsOf(
  limiter: UntypedRateLimiter,
  rules: readonly AnyRule[],
  call: BetterAuthCall,
): Promise<RequestItem<BetterAuthError>[]> {
  return Promise.all(
    rules.map(async ({ name, key: keyOf, plan, on = "call", resetOnSuccess = false }) => {
      const found = await keyOf(call);
      if (typeof found === "string") {
        const of = { name, key: await shortKey(found) };
        const say = () => (typeof plan === "function" ? plan(call) : plan!);
        return {
          ...of,
          ...(await planOption(limiter, of, plan === undefined ? plan : say)),
          on,
          resetOnSuccess,
        };
      }
      throw noKey(name);
    }),
  );
}

function failureOf(returned: unknown): BetterAuthError | undefined {
  const { name } = Object(returned) as { name?: unknown };
  return name === "APIError" ? (returned as BetterAuthError) : undefined;
}

function callOf({ path = "", headers, body }: HookContext): BetterAuthCall {
  return { path, account: accountOf(path, body), headers: new Headers(headers), body };
}

function matches(pattern: string, path: string): boolean {
  return pattern.endsWith("/*") ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

function validated(
  rules: BetterAuthRules<string, string>,
  limiter: UntypedRateLimiter,
): [path: string, rules: readonly AnyRule[]][] {
  if (typeof rules !== "object" || rules === null) {
    throw new RateLimitConfigError("rules", rules, "an object of limits by path");
  }
  return Object.entries(rules).map(([path, given]) => {
    if (!path.startsWith("/")) {
      throw new RateLimitConfigError("rules", path, "paths of endpoints, such as /sign-in/email");
    }
    const some = given === undefined ? [] : [given].flat();
    for (const rule of some) validateRule(rule, path, limiter);
    return [path, some];
  });
}

function validateRule(rule: AnyRule, path: string, limiter: UntypedRateLimiter): void {
  const option = `rules[${JSON.stringify(path)}]`;
  if (typeof rule !== "object" || rule === null) {
    throw new RateLimitConfigError(option, rule, "an object with name and key, or several of them");
  }
  rejectUnknownOptions(rule, RULE_OPTIONS, option);
  const { name, key, plan } = rule;
  requireLimit(limiter.limits, name, `${option}.name`);
  if (typeof key !== "function") {
    throw new RateLimitConfigError(`${option}.key`, key, "a function of the request");
  }
  validatePlan(option, limiter, [name], plan);
  validateCharging(option, rule);
}
