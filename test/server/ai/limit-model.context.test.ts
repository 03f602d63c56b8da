/** The `context` of a call of a model, as the listeners of decisions get it. */
import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitModel, type LimitModelAllOptions } from "../../../server/ai/index.js";
import {
  createRateLimiter,
  DAY,
  type DecisionEvent,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";

const window = { kind: "fixed window", rate: 1000, period: DAY, start: 0 } as const;
const limits = {
  member: window,
  team: window,
  held: { ...window, holds: true },
  plan: window,
  provider: { kind: "token bucket", rate: 1000, period: DAY },
  jobs: { kind: "concurrency", slots: 1 },
} as const;

function setUp() {
  const heard: DecisionEvent[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    clock: createManualClock(20_000 * DAY),
    logger: false,
    onDecision: (event) => void heard.push(event),
  });
  return {
    limiter,
    contexts: () => heard.splice(0).map(({ action, name, context }) => [action, name, context]),
  };
}

const providerOptions = { app: { requestId: "of the call" } };
const call = { params: { prompt: [], providerOptions }, model: { provider: "p", modelId: "m" } };
const doGenerate = async () => ({ usage: { inputTokens: 60, outputTokens: 60 } });
const estimate = () => 100;
const context = { requestId: "1" };

it("is that of the charge, and of the charge of what was used beyond the estimate", async () => {
  const { limiter, contexts } = setUp();
  const options = { name: "member", key: "ann", estimate, context } as const;
  await limitModel(limiter, options).wrapGenerate({ ...call, doGenerate });
  expect(contexts()).toEqual([
    ["limit", "member", context],
    ["charge", "member", context],
  ]);
});

it("is that of each limit, also of the limit that pays, and of the slot", async () => {
  const { limiter, contexts } = setUp();
  const options: LimitModelAllOptions<typeof limits> = {
    limits: [
      { name: "team", key: "ocean" },
      { first: ["plan"], key: "ann" },
    ],
    provider: { name: "provider" },
    slots: { name: "jobs", key: "ann" },
    estimate,
    context,
  };
  await limitModel(limiter, options).wrapGenerate({ ...call, doGenerate });
  const found = contexts();
  expect(found.map(([action, name]) => [action, name].join(" "))).toEqual([
    "limit jobs",
    "limit team",
    "limit plan",
    "limit provider",
    "charge team",
    "charge plan",
    "charge provider",
  ]);
  expect(found.every(([, , of]) => of === context)).toBe(true);
});

it("is that of the charge by which a hold ends", async () => {
  const { limiter, contexts } = setUp();
  const hold = { for: MINUTE, then: "keep" } as const;
  const options = { name: "held", key: "ann", estimate, hold, context } as const;
  await limitModel(limiter, options).wrapGenerate({ ...call, doGenerate });
  expect(contexts()).toEqual([
    ["limit", "held", context],
    ["charge", "held", context],
  ]);
});

it("may be a function of the call", async () => {
  const { limiter, contexts } = setUp();
  const options = { name: "member", key: "ann", estimate: () => 120 } as const;
  await limitModel(limiter, {
    ...options,
    context: ({ params }) => params.providerOptions?.["app"]?.["requestId"],
  }).wrapGenerate({ ...call, doGenerate });
  await limitModel(limiter, options).wrapGenerate({ ...call, doGenerate });
  expect(contexts()).toEqual([
    ["limit", "member", "of the call"],
    ["limit", "member", undefined],
  ]);
});
