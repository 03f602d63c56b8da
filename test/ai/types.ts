/** Compiled by `test/types/ai-sdk.test.ts`, with the types of each version of the AI SDK. */
import * as ai5 from "ai-5";
import { MockLanguageModelV2 } from "ai-5/test";
import * as ai6 from "ai-6";
import { MockLanguageModelV3 } from "ai-6/test";
import * as ai7 from "ai-7";
import { MockLanguageModelV4 } from "ai-7/test";
import { limitModel, rateLimitOfHeaders, SHARED_BUCKET } from "../../server/ai/index.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../server/index.js";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    tokens: { kind: "token bucket", rate: 1000, period: MINUTE },
    credits: { kind: "credits" },
    slots: { kind: "concurrency", slots: 1 },
  },
});
const middleware = limitModel(limiter, {
  name: "tokens",
  key: ({ params, model, type }) =>
    (params.providerOptions?.["app"]?.["user"] as string | undefined) ?? `${model.modelId} ${type}`,
  config: () => undefined,
  provider: [
    { name: "tokens", key: "openai" },
    { name: "tokens", of: "requests" },
  ],
  estimate: async ({ params }) => (params.maxOutputTokens ?? 0) + params.prompt.length,
  tokens: ({ outputTokens }) =>
    typeof outputTokens === "object" ? outputTokens.total : outputTokens,
  once: () => undefined,
});

export const models = [
  ai5.wrapLanguageModel({ model: new MockLanguageModelV2(), middleware }),
  ai5.wrapLanguageModel({ model: new MockLanguageModelV2(), middleware: [middleware] }),
  ai6.wrapLanguageModel({ model: new MockLanguageModelV3(), middleware }),
  ai6.wrapProvider({ provider: {} as never, languageModelMiddleware: middleware }),
  ai7.wrapLanguageModel({ model: new MockLanguageModelV4(), middleware }),
  ai7.wrapLanguageModel({ model: new MockLanguageModelV3(), middleware: [middleware] }),
];

limitModel(limiter, { name: "credits", key: SHARED_BUCKET });
// @ts-expect-error no such limit
limitModel(limiter, { name: "tokenz", key: "ada" });
// @ts-expect-error slots are held, and not counted
limitModel(limiter, { name: "slots", key: "ada" });
// @ts-expect-error no key
limitModel(limiter, { name: "tokens" });
// @ts-expect-error a provider's limit refills
limitModel(limiter, { name: "tokens", key: "ada", provider: { name: "credits" } });
// @ts-expect-error a user who is not logged in has no key
limitModel(limiter, { name: "tokens", key: undefined });

export async function onAnswer({ headers, status }: Response) {
  const { lowered } = await limiter.observe("tokens", rateLimitOfHeaders(headers, { status }));
  // @ts-expect-error credits are not observed
  await limiter.observe("credits", { remaining: 1 });
  return lowered;
}
