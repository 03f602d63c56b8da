import { describe, expect, it } from "vitest";
import { limitModel, SHARED_BUCKET } from "../../../server/ai/index.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { itThrows, type Refusal } from "../../support/refusals.js";

const limits = {
  tokens: { kind: "token bucket", rate: 1000, period: MINUTE, holds: true },
  credits: { kind: "credits", holds: true },
  plan: { kind: "token bucket", rate: 400, period: MINUTE, holds: true },
  few: { kind: "token bucket", rate: 10, period: MINUTE },
  shown: { kind: "token bucket", rate: 10, period: MINUTE, shadow: true },
  jobs: { kind: "concurrency", slots: 1 },
  byPlan: { kind: "concurrency", plans: { free: 1, pro: 2 } },
} as const;
const limiter = () => createRateLimiter({ store: memoryStore(), limits, plans: ["free", "pro"] });
const made =
  (options: object, of: object = limiter()) =>
  () =>
    limitModel(of as never, options as never);
const { enter: _, ...withoutEnter } = limiter();

const key = "a";
const tokens = { name: "tokens", key };
const plan = { first: ["plan"], key };
const slots = { name: "jobs", key };
const hold = { for: MINUTE, then: "keep" };

describe("limitModel", () => {
  const ofLimit = wrongOf((limit) => ({ limits: [limit] }));
  const ofSlots = wrongOf((given) => ({ ...tokens, slots: given }));
  const ofProvider = wrongOf((provider) => ({ ...tokens, provider }));
  const ofHold = wrongOf((given) => ({ ...tokens, hold: given }));

  itThrows(Error, [
    [made({ name: "tokenz", key }), 'the limiter has no limit "tokenz"'],
    [made({ ...tokens, esimate: 1 }), "esimate is not an option of limitModel()"],
    [made({ name: "tokens" }), 'needs a key for "tokens", got undefined'],
    [made({ name: "tokens", key: null }), 'needs a key for "tokens", got null'],
    [
      made({ limits: [] }),
      "limits of limitModel() needs a list of at least one limit, got an empty",
    ],
    [made({ limits: tokens }), "limits of limitModel() needs a list of at least one limit"],
    [made({}), "limitModel() needs name, or limits"],
    [made({ ...tokens, limits: [tokens] }), "limitModel() takes name or limits, got both"],
    [made({ limits: [tokens], key }), "key of limitModel() goes with name, got it with limits"],
    [made({ limits: [plan, { ...plan, first: ["credits"] }], hold }), "one first at most, got 2"],
    [made({ limits: [{ first: ["plan", "few"], key }], hold }), '"few" has no holds'],
    [made({ limits: [{ name: "few", key }], hold }), '"few" has no holds'],
    [made({ name: "few", key, hold }), '"few" has no holds'],
    [
      made({ ...tokens, slots }, withoutEnter),
      "slots of limitModel() needs the method enter of the ",
    ],
    ...ofProvider([
      [{ name: "openai" }, 'has no limit "openai"'],
      [[{ name: "credits" }], "must refill"],
      [{ name: "tokens", of: "words" }, 'or "requests", got "words"'],
      [{ name: "tokens", kee: 1 }, "kee is not an option"],
    ]),
    ...ofHold([
      [{ for: MINUTE }, "hold.then must be"],
      [{ for: 0.5, then: "keep" }, "hold.for must be"],
      ["keep", "hold must be an object"],
    ]),
    ...ofLimit([
      ["tokens", 'the options of a limit of limitModel() must be an object, got "tokens"'],
      [{ name: "tokenz", key }, 'the limiter has no limit "tokenz"'],
      [{ name: "tokens" }, 'needs a key for "tokens", got undefined'],
      [{ ...tokens, kee: 1 }, "kee is not an option of a limit of limitModel()"],
      [{ ...tokens, of: "words" }, '"tokens" or "requests", got "words"'],
      [{ ...tokens, plan: "pro" }, "plan of limitModel() is for limits with plans"],
      [{ name: "jobs", key }, '"jobs" has slots and no tokens: give it as slots'],
      [{ first: [], key }, "first needs a list of at least one limit"],
      [{ first: ["plan"] }, 'needs a key for "plan", got undefined'],
      [{ ...plan, split: 1 }, "split must be a boolean, got 1"],
      [{ ...plan, of: "requests" }, "of is not an option of a first of limitModel()"],
      [{ first: [{ ...tokens, count: 2 }] }, "count is not an option of a limit of a first"],
      [{ first: ["shown"], key }, 'first cannot ask "shown", which is a shadow'],
    ]),
    ...ofSlots([
      ["jobs", 'the options of slots of limitModel() must be an object, got "jobs"'],
      [{ name: "jbos", key }, 'the limiter has no limit "jbos"'],
      [tokens, 'needs a limit of kind "concurrency", got "tokens"'],
      [{ name: "jobs" }, 'needs a key for "jobs", got undefined'],
      [{ ...slots, holder: "a" }, "holder is not an option of slots of limitModel()"],
      [{ ...slots, maxWait: -1 }, "maxWait must be a number of ms of at least 0, got -1"],
      [{ ...slots, plan: "pro" }, "plan of slots of limitModel() is for limits with plans"],
      [{ name: "byPlan", key, plan: "por" }, 'one of "free", "pro"'],
      [{ name: "byPlan", key }, '"byPlan" has plans, and nothing says the plan'],
    ]),
  ]);
});

function wrongOf(optionsOf: (given: unknown) => object) {
  return (rows: [given: unknown, told: string][]) =>
    rows.map(([given, told]): Refusal => [made(optionsOf(given)), told]);
}

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
