import { expect, it, vi } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../server/index.js";

const limits = { send: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

it("waitUntil gets the promises of onDecision and of the channel, and not their rejections", async () => {
  const handed: Promise<unknown>[] = [];
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits,
    waitUntil: (promise) => void handed.push(promise),
    onDecision: () => Promise.reject(new Error("no metrics")),
    channel: { publish: async () => {}, subscribe: () => () => {} },
  });
  await limiter.limit("send");
  expect(handed).toHaveLength(2);
  await Promise.all(handed);
  // A denial changes nothing, so the channel is not told.
  await limiter.limit("send");
  expect(handed).toHaveLength(3);
});

it("waitUntil gets nothing of listeners that return nothing", async () => {
  const waitUntil = vi.fn();
  const limiter = createRateLimiter({ store: memoryStore(), limits, waitUntil, onDecision() {} });
  await limiter.limit("send");
  expect(waitUntil).not.toHaveBeenCalled();
});

it("with waitUntil, autoPrune takes its turns after calls, one per interval", async () => {
  const handed: Promise<unknown>[] = [];
  const store = memoryStore() as RateLimitStore;
  const prune = vi.fn(store.prune!);
  const options = {
    store: { ...store, prune },
    limits,
    waitUntil: (promise: Promise<unknown>) => void handed.push(promise),
    autoPrune: { every: MINUTE },
  };
  const limiter = createRateLimiter(options);
  expect(handed).toHaveLength(0);
  await limiter.limit("send");
  await limiter.limit("send");
  // A limiter that another request makes.
  await createRateLimiter(options).limit("send");
  expect(handed).toHaveLength(1);
  await Promise.all(handed);
  expect(prune).toHaveBeenCalledTimes(1);
});
