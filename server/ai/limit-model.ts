/** `limitModel`: middleware of the AI SDK that takes an estimate, and settles what a call has used. */
import { keyOption } from "../../core/key-option.js";
import { planOption } from "../limiter/parts/plan-of-request.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { rejectUnknownOptions } from "../limiter/types/known-options.js";
import { Bill, type BillItem } from "./bill.js";
import { estimateTokens, figureOf, usedTokens } from "./count-tokens.js";
import { isRefusal, statusOf } from "./failed-call.js";
import type { LimitModelOptions, ModelLimiter, ProviderLimit } from "./limit-model-options.js";
import type { ModelCall, ModelMiddleware, ModelUsage } from "./model-types.js";
import { type HeadersLike, rateLimitOfHeaders } from "./rate-limit-of-headers.js";
import { keyOf, OPTIONS, type UntypedModelLimiter, validate } from "./validate-limit-model.js";
import { watchStream } from "./watch-stream.js";

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
  const { name, key, plan, config, estimate, tokens = usedTokens, once, hold } = options;
  // The types have checked the names. From here on, names are strings.
  const limits = limiter as unknown as UntypedModelLimiter;
  const providers = providersOf(options.provider);
  const limited = { limits, providers, name, key, plan, config, estimate, once, hold } as Limited;
  validate(limits, limited, providers);

  return {
    specificationVersion: "v3",

    async wrapGenerate({ doGenerate, params, model }) {
      const bill = await open(limited, { type: "generate", params, model });
      const result = await ask(limited, bill, doGenerate);
      await bill.settle(usedOf(tokens, result.usage));
      await hear(limited, result.response?.headers);
      return result;
    },

    async wrapStream({ doStream, params, model }) {
      const bill = await open(limited, { type: "stream", params, model });
      const result = await ask(limited, bill, doStream);
      // Not awaited here: the first part of the stream must not wait for a database.
      const hearing = hear(limited, result.response?.headers);
      const left = () => void bill.keep();
      const end = {
        settle(usage: unknown, isRefused: boolean) {
          const used = usedOf(tokens, usage);
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

/** The limiter and the options of one `limitModel`. */
interface Limited extends Omit<LimitModelOptions<LimitConfigs>, "provider" | "tokens"> {
  limits: UntypedModelLimiter;
  providers: readonly ProviderLimit[];
}

function providersOf(option: unknown): readonly ProviderLimit[] {
  return option === undefined ? [] : ([option].flat() as ProviderLimit[]);
}

/**
 * @throws the reason of a signal that is aborted before the model is asked. All tokens then come back.
 */
async function open(limited: Limited, call: ModelCall): Promise<Bill> {
  const { once, hold } = limited;
  const { abortSignal } = call.params;
  abortSignal?.throwIfAborted();
  const items = await itemsOf(limited, call);
  const id = await once?.(call);
  abortSignal?.throwIfAborted();
  const bill = await Bill.open(limited.limits, items, { once: id, hold });
  if (abortSignal?.aborted) await bill.undo();
  abortSignal?.throwIfAborted();
  return bill;
}

async function itemsOf(limited: Limited, call: ModelCall): Promise<BillItem[]> {
  const { limits, providers, name, plan, estimate } = limited;
  const count = await (estimate?.(call) ?? estimateTokens(call.params));
  const key = keyOf(await valueOf(limited.key, call), name);
  const config = await valueOf(limited.config, call);
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

async function valueOf<TValue>(
  option: TValue | ((call: ModelCall) => TValue | Promise<TValue>),
  call: ModelCall,
): Promise<TValue> {
  // A function is never the value itself, but always returns the value.
  return typeof option === "function" ? (option as (_: ModelCall) => TValue)(call) : option;
}

/** Asks the model. Settles the bill of a call that fails. */
async function ask<TResult>(
  limited: Limited,
  bill: Bill,
  run: () => PromiseLike<TResult>,
): Promise<TResult> {
  try {
    return await run();
  } catch (error) {
    await (isRefusal(error) ? bill.giveBack() : bill.keep());
    const { responseHeaders } = Object(error) as { responseHeaders?: unknown };
    // Read the header fields after the tokens came back, or the tokens would be added to the provider's
    // figure.
    await hear(limited, responseHeaders, statusOf(error));
    throw error;
  }
}

/** Lowers the provider's limits to the figures in the provider's answer. */
async function hear(
  { limits, providers }: Limited,
  headers: unknown,
  status?: number,
): Promise<void> {
  if (typeof headers !== "object" || headers === null) return;
  await Promise.allSettled(
    providers.map(async ({ name, key, of }) => {
      const said = rateLimitOfHeaders(headers as HeadersLike, { of, status });
      if (said.remaining !== undefined) await limits.observe(name, { ...keyOption(key), ...said });
    }),
  );
}

/** `NaN` where no figure is known. */
function usedOf(tokens: (usage: ModelUsage) => number | undefined, usage: unknown): number {
  try {
    return figureOf(tokens(Object(usage) as ModelUsage));
  } catch {
    return NaN;
  }
}
