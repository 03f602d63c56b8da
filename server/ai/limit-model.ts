/** `limitModel`: middleware of the AI SDK that takes an estimate, and settles what a call has used. */
import { describe, RateLimitConfigError, RateLimitInputError } from "../../core/errors.js";
import { keyOption } from "../../core/key-option.js";
import { planOption, plansOf, validatePlan } from "../limiter/parts/plan-of-request.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { unheld, validateTerms } from "../limiter/types/hold-terms.js";
import { keyOfAnswer } from "../limiter/types/key-answer.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import { requireLimit } from "../limiter/types/named-limits.js";
import type { RateLimiter } from "../limiter/types/limiter.js";
import type { UntypedOperations } from "../limiter/types/untyped.js";
import { Bill, type BillItem } from "./bill.js";
import { estimateTokens, figureOf, usedTokens } from "./count-tokens.js";
import { isRefusal, statusOf } from "./failed-call.js";
import type { LimitModelOptions, ModelLimiter, ProviderLimit } from "./limit-model-options.js";
import type { ModelCall, ModelMiddleware, ModelUsage } from "./model-types.js";
import { type HeadersLike, rateLimitOfHeaders } from "./rate-limit-of-headers.js";
import { watchStream } from "./watch-stream.js";

const OPTIONS = namesOf<LimitModelOptions<LimitConfigs>>({
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

/**
 * Middleware for `wrapLanguageModel` of the AI SDK 5, 6 and 7. Each call of the model takes an estimate
 * before it begins, and is settled by the use that the model reports.
 *
 * - **Denied**: the call rejects with a `RateLimitError` (`isRateLimitError`), and the model is not asked.
 * - **No figure of the use**, or an impossible figure: the estimate stays charged, and the limiter's
 *   logger is told.
 * - **The provider refuses** (a status of 400 or more, or no connection): all tokens come back.
 * - **Aborted before the model is asked**: the call rejects with the reason, and all tokens come back.
 * - **Aborted later, cancelled, or cut off**: the estimate stays, because the provider may bill its work.
 * - **The database fails after the call**: the estimate stays, and the answer is complete.
 *
 * The middleware does not limit models of embeddings and of images: call `limit` and `settle` around
 * those models.
 *
 * @throws RateLimitConfigError for an option that does not exist or makes no sense, and for a name that
 * the limiter does not have.
 *
 * @example
 * import { wrapLanguageModel } from "ai";
 * import { limitModel } from "trpc-rate-limit/ai";
 *
 * const limited = wrapLanguageModel({
 *   model,
 *   middleware: limitModel(limiter, { name: "llmTokens", key: userId }),
 * });
 */
export function limitModel<TLimits extends LimitConfigs>(
  limiter: ModelLimiter<TLimits>,
  options: LimitModelOptions<TLimits>,
): ModelMiddleware {
  rejectUnknownOptions(options, OPTIONS, "limitModel()");
  const { estimate, tokens = usedTokens, once, hold, plan } = options;
  // The types have checked the names. From here on, names are strings.
  const limits = limiter as unknown as UntypedModelLimiter;
  const providers = providersOf(options.provider);
  const { name } = options;
  validate(limits, { name, key: options.key, plan, config: options.config, hold }, providers);

  async function itemsOf(call: ModelCall): Promise<BillItem[]> {
    const count = await (estimate?.(call) ?? estimateTokens(call.params));
    const key = keyOf(await valueOf(options.key, call), name);
    const config = await valueOf(options.config, call);
    const say = plan === undefined ? plan : () => valueOf(plan, call);
    const ofPlan = config === undefined ? await planOption(limits, { name, key }, say) : {};
    return [
      { item: { name, ...keyOption(key), ...ofPlan, config, count }, isSettled: true },
      ...providers.map(({ name: shared, key: group, of }) => {
        const isSettled = of !== "requests";
        const item = { name: shared, ...keyOption(group), count: isSettled ? count : 1 };
        return { item, isSettled };
      }),
    ];
  }

  const usedOf = (usage: unknown): number => {
    try {
      return figureOf(tokens(Object(usage) as ModelUsage));
    } catch {
      return NaN;
    }
  };

  /** Lowers the provider's limits to the figures in the provider's answer. */
  async function hear(headers: unknown, status?: number): Promise<void> {
    if (typeof headers !== "object" || headers === null) return;
    await Promise.allSettled(
      providers.map(async ({ name: shared, key, of }) => {
        const said = rateLimitOfHeaders(headers as HeadersLike, { of, status });
        if (said.remaining !== undefined)
          await limits.observe(shared, { ...keyOption(key), ...said });
      }),
    );
  }

  /**
   * @throws the reason of a signal that is aborted before the model is asked. All tokens then come back.
   */
  async function open(call: ModelCall): Promise<Bill> {
    const { abortSignal } = call.params;
    abortSignal?.throwIfAborted();
    const items = await itemsOf(call);
    const id = await once?.(call);
    abortSignal?.throwIfAborted();
    const bill = await Bill.open(limits, items, { once: id, hold });
    if (abortSignal?.aborted) await bill.undo();
    abortSignal?.throwIfAborted();
    return bill;
  }

  async function failed(bill: Bill, error: unknown): Promise<void> {
    await (isRefusal(error) ? bill.giveBack() : bill.keep());
    const { responseHeaders } = Object(error) as { responseHeaders?: unknown };
    // Read the header fields after the tokens came back, or the tokens would be added to the provider's
    // figure.
    await hear(responseHeaders, statusOf(error));
  }

  return {
    specificationVersion: "v3",

    async wrapGenerate({ doGenerate, params, model }) {
      const bill = await open({ type: "generate", params, model });
      let result;
      try {
        result = await doGenerate();
      } catch (error) {
        await failed(bill, error);
        throw error;
      }
      await bill.settle(usedOf(result.usage));
      await hear(result.response?.headers);
      return result;
    },

    async wrapStream({ doStream, params, model }) {
      const bill = await open({ type: "stream", params, model });
      let result;
      try {
        result = await doStream();
      } catch (error) {
        await failed(bill, error);
        throw error;
      }
      // Not awaited here: the first part of the stream must not wait for a database.
      const hearing = hear(result.response?.headers);
      const left = () => void bill.keep();
      const end = {
        settle(usage: unknown, isRefused: boolean) {
          const used = usedOf(usage);
          return Number.isNaN(used) && isRefused ? bill.giveBack() : bill.settle(used);
        },
        keep: () => bill.keep(),
        over() {
          params.abortSignal?.removeEventListener("abort", left);
          return hearing;
        },
      };
      // After an abort, a reader may neither read nor cancel the stream.
      params.abortSignal?.addEventListener("abort", left);
      return { ...result, stream: watchStream(result.stream, end, isRefusal) };
    },
  };
}

type UntypedModelLimiter = Pick<UntypedOperations, "limit" | "limitAll" | "settle"> &
  Pick<RateLimiter<LimitConfigs, never>, "limits" | "observe">;

/** The options before they are checked: plain JavaScript can pass any value. */
interface Unchecked {
  name: string;
  key: unknown;
  plan: unknown;
  config: unknown;
  hold: LimitModelOptions<LimitConfigs>["hold"];
}

function validate(
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

function providersOf(option: unknown): readonly ProviderLimit[] {
  return option === undefined ? [] : ([option].flat() as ProviderLimit[]);
}

async function valueOf<TValue>(
  option: TValue | ((call: ModelCall) => TValue | Promise<TValue>),
  call: ModelCall,
): Promise<TValue> {
  // A function is never the value itself, but always returns the value.
  return typeof option === "function" ? (option as (_: ModelCall) => TValue)(call) : option;
}

function keyOf(answer: unknown, name: string): string | undefined {
  return keyOfAnswer(answer, () => {
    const problem =
      `limitModel() needs a key for ${describe(name)}, got ${describe(answer)}: give it the user's id, ` +
      "or SHARED_BUCKET for the bucket that all callers share";
    return new RateLimitInputError("key", problem);
  });
}
