/** `limitModel`: middleware of the AI SDK that takes an estimate, and settles what a call has used. */
import { keyOption } from "../../core/key-option.js";
import type { LimitConfigs } from "../limiter/types/names.js";
import { rejectUnknownOptions } from "../limiter/types/known-options.js";
import { askedItems } from "./asked-limits.js";
import type { Bill } from "./bill.js";
import { figureOf, usedTokens } from "./count-tokens.js";
import { isRefusal, statusOf } from "./failed-call.js";
import type {
  LimitModelAllOptions,
  LimitModelOptions,
  ModelLimiter,
  ProviderLimit,
} from "./limit-model-options.js";
import type { ModelMiddleware, ModelUsage } from "./model-types.js";
import { type Limited, openCall } from "./open-call.js";
import { type HeadersLike, rateLimitOfHeaders } from "./rate-limit-of-headers.js";
import { OPTIONS, type UntypedModelLimiter, validate } from "./validate-limit-model.js";
import { watchStream } from "./watch-stream.js";

/**
 * Middleware for `wrapLanguageModel` of the AI SDK 5, 6 and 7. Each call of the model takes an estimate
 * before it begins, and is settled by the use that the model reports.
 *
 * Several limits are charged all or none, and a `first` among them by the first limit that can pay. With
 * `slots`, the call holds a slot as long as its answer streams.
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
 *
 * const ofTeam = limitModel(limiter, {
 *   limits: [
 *     { name: "llmTokens", key: userId },
 *     { first: ["plan", "credits"], key: teamId },
 *   ],
 *   slots: { name: "generations", key: userId },
 * });
 */
export function limitModel<TLimits extends LimitConfigs>(
  limiter: ModelLimiter<TLimits>,
  options: LimitModelOptions<TLimits> | LimitModelAllOptions<TLimits>,
): ModelMiddleware {
  rejectUnknownOptions(options, OPTIONS, "limitModel()");
  const { tokens = usedTokens } = options;
  // The types have checked the names. From here on, names are strings.
  const limits = limiter as unknown as UntypedModelLimiter;
  const limited = limitedOf(limits, options as unknown as AnyOptions);
  validate(limits, limited);

  return {
    specificationVersion: "v3",

    async wrapGenerate({ doGenerate, params, model }) {
      const { bill, slot } = await openCall(limited, { type: "generate", params, model });
      try {
        const result = await ask(limited, bill, doGenerate);
        await bill.settle(usedOf(tokens, result.usage));
        await hear(limited, result.response?.headers);
        return result;
      } finally {
        await slot?.release();
      }
    },

    async wrapStream({ doStream, params, model }) {
      const { bill, slot } = await openCall(limited, { type: "stream", params, model });
      const result = await ask(limited, bill, doStream).catch(async (error: unknown) => {
        await slot?.release();
        throw error;
      });
      // Not awaited here: the first part of the stream must not wait for a database.
      const hearing = hear(limited, result.response?.headers);
      const left = () => {
        void bill.keep();
        void slot?.release();
      };
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
      if (params.abortSignal?.aborted) left();
      else params.abortSignal?.addEventListener("abort", left);
      const stream = watchStream(result.stream, end, isRefusal);
      return { ...result, stream: slot?.whileRead?.(stream) ?? stream };
    },
  };
}

type AnyOptions = LimitModelOptions<LimitConfigs> | LimitModelAllOptions<LimitConfigs>;

function limitedOf(limits: UntypedModelLimiter, options: AnyOptions): Limited {
  const { provider, slots, estimate, once, hold, context } = options;
  const providers = provider === undefined ? [] : ([provider].flat() as ProviderLimit[]);
  return { limits, items: askedItems(options), providers, slots, estimate, once, hold, context };
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
