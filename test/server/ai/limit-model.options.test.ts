import { expect, it } from "vitest";
import { limitModel, SHARED_BUCKET } from "../../../server/ai/index.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";

const limits = {
  tokens: { kind: "token bucket", rate: 1000, period: MINUTE },
  credits: { kind: "credits" },
} as const;
const limiter = () => createRateLimiter({ store: memoryStore(), limits });

it.each([
  [{ name: "tokenz", key: "a" }, 'the limiter has no limit "tokenz"'],
  [{ name: "tokens", key: "a", provider: { name: "openai" } }, 'has no limit "openai"'],
  [{ name: "tokens", key: "a", provider: [{ name: "credits" }] }, "must refill"],
  [
    { name: "tokens", key: "a", provider: { name: "tokens", of: "words" } },
    'or "requests", got "words"',
  ],
  [{ name: "tokens", key: "a", provider: { name: "tokens", kee: 1 } }, "kee is not an option"],
  [{ name: "tokens", key: "a", esimate: 1 }, "esimate is not an option of limitModel()"],
  [{ name: "tokens" }, 'needs a key for "tokens", got undefined'],
  [{ name: "tokens", key: null }, 'needs a key for "tokens", got null'],
])("refuses %o", (options, message) => {
  expect(() => limitModel(limiter(), options as never)).toThrow(message);
});

const call = {
  params: { prompt: [], maxOutputTokens: 100 },
  model: { provider: "p", modelId: "m" },
};

it("refuses a call whose function names no key, before the model is asked", async () => {
  const middleware = limitModel(limiter(), { name: "tokens", key: () => undefined as never });
  const doGenerate = () => Promise.reject(new Error("the model was asked"));
  const refused = middleware.wrapGenerate({ ...call, doGenerate });
  await expect(refused).rejects.toThrow('needs a key for "tokens", got undefined');
});

it("takes of the bucket of all callers, and of credits", async () => {
  const at = limiter();
  await at.credit("credits", { key: "ada", count: 500 });
  const doGenerate = async () => ({ usage: { inputTokens: 10, outputTokens: 20 } });
  await limitModel(at, { name: "tokens", key: SHARED_BUCKET }).wrapGenerate({
    ...call,
    doGenerate,
  });
  await limitModel(at, { name: "credits", key: "ada" }).wrapGenerate({ ...call, doGenerate });
  expect(Math.round((await at.getValue("tokens")).value)).toBe(970);
  expect((await at.getValue("credits", { key: "ada" })).value).toBe(470);
});
