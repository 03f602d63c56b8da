/** Several budgets around one call of a model: what `limitAll` and `limitFirst` take. */
import { beforeEach, describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitModel, type LimitModelAllOptions } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  isRateLimitError,
  memoryStore,
  MINUTE,
  RateLimitStoreError,
} from "../../../server/index.js";

const limits = {
  member: { kind: "fixed window", rate: 1000, period: DAY, start: 0, holds: true },
  team: { kind: "fixed window", rate: 5000, period: DAY, start: 0, holds: true },
  run: { kind: "fixed window", rate: 500, period: DAY, start: 0 },
  plan: { kind: "fixed window", rate: 400, period: DAY, start: 0, holds: true },
  credits: { kind: "credits", holds: true },
  calls: { kind: "fixed window", rate: 10, period: DAY, start: 0, holds: true },
  provider: { kind: "token bucket", rate: 10_000, period: DAY },
  shown: { kind: "fixed window", rate: 10, period: DAY, start: 0, shadow: true },
  jobs: { kind: "concurrency", slots: 1 },
} as const;
type Options = LimitModelAllOptions<typeof limits>;

const params = { prompt: [], providerOptions: { app: { userId: "ada", teamId: "ocean" } } };
const call = { params, model: { provider: "p", modelId: "m" } };
const usage = { inputTokens: 20, outputTokens: 30 };
const doGenerate = async () => ({ usage });

const budgets: Options["limits"] = [
  {
    name: "member",
    key: ({ params: { providerOptions } }) => String(providerOptions!["app"]!["userId"]),
  },
  { name: "team", key: "ocean" },
  { name: "run", key: "run 1" },
  { name: "calls", key: "ada", of: "requests" },
  { first: ["plan", { name: "credits", key: "bank" }], key: "ocean" },
];

function setUp(options: Partial<Options> = {}) {
  const clock = createManualClock(20_000 * DAY);
  const store = memoryStore();
  const events: DecisionEvent[] = [];
  let applied = 0;
  const state = { isDown: false };
  const limiter = createRateLimiter({
    store: {
      ...store,
      submit: undefined as never,
      apply(decisions) {
        if (state.isDown) return Promise.reject(new RateLimitStoreError("down"));
        applied += decisions.filter(({ readOnly }) => !readOnly).length;
        return store.apply(decisions);
      },
    },
    limits,
    clock,
    sleep: clock.sleep,
    logger: false,
    onDecision: (event) => void events.push(event),
  });
  const middleware = limitModel(limiter, {
    limits: budgets,
    provider: { name: "provider" },
    estimate: () => 300,
    ...options,
  });
  const valueOf = async (name: Exclude<keyof typeof limits, "jobs">, key?: string) =>
    (await limiter.getValue(name, key === undefined ? {} : { key })).value;
  return {
    limiter,
    middleware,
    events,
    state,
    /** How many decisions that may write were sent since this was last called. */
    decisions() {
      const sent = applied;
      applied = 0;
      return sent;
    },
    left: async () => ({
      member: await valueOf("member", "ada"),
      team: await valueOf("team", "ocean"),
      run: await valueOf("run", "run 1"),
      calls: await valueOf("calls", "ada"),
      plan: await valueOf("plan", "ocean"),
      credits: await valueOf("credits", "bank"),
      provider: await valueOf("provider"),
    }),
  };
}

const full = {
  member: 1000,
  team: 5000,
  run: 500,
  calls: 10,
  plan: 400,
  credits: 900,
  provider: 10_000,
};
const hold = { for: MINUTE, then: "keep" } as const;

describe.each([{}, { hold }])("several budgets of one call (%j)", (options) => {
  const start = async () => {
    const at = setUp(options);
    await at.limiter.credit("credits", { key: "bank", count: 900 });
    return at;
  };

  let at: Awaited<ReturnType<typeof start>>;
  beforeEach(async () => {
    at = await start();
  });

  it("are charged together, and settled by the use", async () => {
    let during;
    await at.middleware.wrapGenerate({
      ...call,
      async doGenerate() {
        during = await at.left();
        return { usage };
      },
    });
    expect(during).toEqual({
      member: 700,
      team: 4700,
      run: 200,
      calls: 9,
      plan: 100,
      credits: 900,
      provider: 9700,
    });
    expect(await at.left()).toEqual({
      member: 950,
      team: 4950,
      run: 450,
      calls: 9,
      plan: 350,
      credits: 900,
      provider: 9950,
    });
    expect(await at.limiter.holds("member", { key: "ada" })).toEqual([]);
    expect(await at.limiter.holds("calls", { key: "ada" })).toEqual([]);
  });

  it("charges the credits where the plan is used up", async () => {
    await at.limiter.limit("plan", { key: "ocean", count: 200 });
    await at.middleware.wrapGenerate({ ...call, doGenerate });
    expect(await at.left()).toMatchObject({ member: 950, plan: 200, credits: 850 });
  });

  it("charges nothing, and names what is exhausted, where one of them denies", async () => {
    await at.limiter.limit("run", { key: "run 1", count: 400 });
    const denied: unknown = await at.middleware
      .wrapGenerate({ ...call, doGenerate: () => Promise.reject(new Error("asked")) })
      .catch((error: unknown) => error);
    const facts = isRateLimitError(denied) ? denied.data.rateLimit : undefined;
    expect(facts?.name).toBe("run");
    expect(facts?.denials?.map(({ name }) => name)).toEqual(["run"]);
    expect(await at.left()).toEqual({ ...full, run: 100 });
  });

  it("gives all tokens back where the provider refuses, and counts the request", async () => {
    const refusal = Object.assign(new Error("no"), { statusCode: 500 });
    const refused = at.middleware.wrapGenerate({
      ...call,
      doGenerate: () => Promise.reject(refusal),
    });
    await expect(refused).rejects.toThrow("no");
    expect(await at.left()).toEqual({ ...full, calls: 9 });
    expect(await at.limiter.holds("calls", { key: "ada" })).toEqual([]);
  });

  it("gives the request back, too, where the call was aborted before the model was asked", async () => {
    const aborted = new AbortController();
    const asking = at.middleware.wrapGenerate({
      ...call,
      params: { ...params, abortSignal: aborted.signal },
      doGenerate,
    });
    // The tokens are on their way.
    await Promise.resolve();
    aborted.abort(new Error("left"));
    await expect(asking).rejects.toThrow("left");
    expect(await at.left()).toEqual(full);
  });

  it("keeps the estimate where the use is not known", async () => {
    await at.middleware.wrapGenerate({ ...call, doGenerate: async () => ({ usage: {} }) });
    expect(await at.left()).toMatchObject({ member: 700, plan: 100, calls: 9, provider: 9700 });
    expect(await at.limiter.holds("member", { key: "ada" })).toEqual([]);
  });

  it("charges what was used beyond the estimate, as far as a limit can owe it", async () => {
    const much = { inputTokens: 1200, outputTokens: 0 };
    await at.middleware.wrapGenerate({ ...call, doGenerate: async () => ({ usage: much }) });
    expect(await at.left()).toMatchObject({ member: -200, team: 3800, plan: -800, credits: 900 });
    const more = { inputTokens: 1e30, outputTokens: 0 };
    const other = setUp(options);
    await other.middleware.wrapGenerate({ ...call, doGenerate: async () => ({ usage: more }) });
    // No limit can be charged so much: the estimates stay.
    expect(await other.left()).toMatchObject({ member: 700, plan: 100 });
  });

  it("settles a stream at its end", async () => {
    const parts = [{ type: "text-delta" }, { type: "finish", usage }];
    const doStream = async () => ({
      stream: new ReadableStream<unknown>({
        pull(controller) {
          const part = parts.shift();
          if (part === undefined) controller.close();
          else controller.enqueue(part);
        },
      }),
    });
    const { stream } = await at.middleware.wrapStream({ ...call, doStream });
    for await (const _ of stream);
    expect(await at.left()).toMatchObject({ member: 950, plan: 350, provider: 9950 });
  });

  it("leaves the answer complete where the database fails after the call", async () => {
    const answer = await at.middleware.wrapGenerate({
      ...call,
      async doGenerate() {
        at.state.isDown = true;
        return { usage };
      },
    });
    expect(answer).toEqual({ usage });
    at.state.isDown = false;
    expect(await at.left()).toMatchObject({ member: 700, plan: 100 });
  });
});

it("holds all of them under one id, and ends the holds in one decision", async () => {
  const held = budgets.filter((item) => !("name" in item) || item.name !== "run");
  const at = setUp({ hold, once: () => "call 1", limits: held, provider: [] });
  await at.middleware.wrapGenerate({
    ...call,
    async doGenerate() {
      for (const [name, key] of [
        ["member", "ada"],
        ["team", "ocean"],
        ["plan", "ocean"],
        ["calls", "ada"],
      ] as const) {
        expect(await at.limiter.holds(name, { key })).toMatchObject([{ once: "call 1" }]);
      }
      at.decisions();
      return { usage };
    },
  });
  expect(at.decisions()).toBe(1);
  expect(await at.left()).toMatchObject({ member: 950, team: 4950, plan: 350, calls: 9 });
});

it("ends all holds in one decision where a limit is there twice", async () => {
  const first = { first: ["plan", "credits"], key: "ocean" } as const;
  const at = setUp({ hold, limits: [first, { name: "credits", key: "bank" }], provider: [] });
  await at.limiter.credit("credits", { key: "bank", count: 900 });
  await at.middleware.wrapGenerate({
    ...call,
    async doGenerate() {
      at.decisions();
      return { usage };
    },
  });
  expect(at.decisions()).toBe(1);
  expect(await at.left()).toMatchObject({ plan: 350, credits: 850 });
});

it("settles what a process that died has held, by one call", async () => {
  const at = setUp({
    hold,
    once: () => "call 1",
    limits: [budgets[0]!, budgets[4]!],
    provider: [],
  });
  void at.middleware.wrapGenerate({ ...call, doGenerate: () => new Promise<never>(() => {}) });
  await expect.poll(() => at.limiter.holds("plan", { key: "ocean" })).toHaveLength(1);
  const names = [
    { name: "member", key: "ada" },
    { name: "plan", key: "ocean" },
    { name: "credits", key: "bank" },
  ] as const;
  expect(await at.limiter.settle(names, { once: "call 1" }, 40)).toMatchObject({ settled: true });
  expect(await at.left()).toMatchObject({ member: 960, plan: 360 });
});

it("shares the estimate among limits that pay together, and gives it back to the last first", async () => {
  const at = setUp({
    limits: [{ first: ["plan", { name: "credits", key: "bank" }], key: "ocean", split: true }],
    estimate: () => 600,
  });
  await at.limiter.credit("credits", { key: "bank", count: 900 });
  let during;
  await at.middleware.wrapGenerate({
    ...call,
    async doGenerate() {
      during = await at.left();
      return { usage: { inputTokens: 450, outputTokens: 0 } };
    },
  });
  expect(during).toMatchObject({ plan: 0, credits: 700 });
  expect(await at.left()).toMatchObject({ plan: 0, credits: 850 });
});

it("counts tokens under one key of a limit, and requests under another", async () => {
  const at = setUp({
    limits: [
      { name: "member", key: "ada" },
      { name: "member", key: "requests of ada", of: "requests" },
    ],
    hold,
  });
  await at.middleware.wrapGenerate({ ...call, doGenerate });
  const left = async (key: string) => at.limiter.getValue("member", { key });
  expect(await left("ada")).toMatchObject({ value: 950, held: 0 });
  expect(await left("requests of ada")).toMatchObject({ value: 999, held: 0 });
});

it("asks for the plan of each limit, or of all limits of a first", async () => {
  const day = { kind: "fixed window", period: DAY, start: 0 } as const;
  const limiter = createRateLimiter({
    store: memoryStore(),
    plans: ["free", "pro"],
    limits: {
      member: { ...day, plans: { free: 10, pro: 1000 } },
      team: { ...day, plans: { free: 20, pro: 2000 } },
      bonus: { ...day, rate: 500 },
    },
    clock: createManualClock(20_000 * DAY),
  });
  const middleware = limitModel(limiter, {
    limits: [
      { name: "member", key: "ada", plan: () => "pro" },
      {
        first: ["team", { name: "member", key: "ben", plan: () => "pro" }, "bonus"],
        key: "ocean",
        plan: "free",
      },
    ],
    estimate: () => 300,
  });
  await middleware.wrapGenerate({ ...call, doGenerate });
  const plan = "pro";
  // The team is too small for it.
  expect((await limiter.getValue("team", { key: "ocean", plan: "free" })).value).toBe(20);
  for (const key of ["ada", "ben"]) {
    expect((await limiter.getValue("member", { key, plan })).value).toBe(950);
  }
  expect((await limiter.getValue("bonus", { key: "ocean" })).value).toBe(500);
});
