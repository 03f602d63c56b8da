/** The events of decisions have the context of the procedure call that they were for. */
import { initTRPC } from "@trpc/server";
import { expect, it } from "vitest";
import {
  createRateLimiter,
  type DecisionEvent,
  memoryStore,
  MINUTE,
} from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";

interface Context {
  user: string;
  requestId: string;
}

it("is that of the procedure, of the payment, of the slot, of the transaction and of the router", async () => {
  const heard: [name: string, action: string, requestId: string | undefined][] = [];
  const one = { kind: "token bucket", rate: 1, period: MINUTE } as const;
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { one, two: one, slots: { kind: "concurrency", slots: 1 } },
    onDecision: ({ name, action, context }: DecisionEvent<Context>) =>
      void heard.push([name, action, context?.requestId]),
  });
  const t = initTRPC.context<Context>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.user,
    authorize: () => true,
  });
  const router = t.router({
    single: t.procedure.use(rl.rateLimited("one")).query(() => 1),
    list: t.procedure.use(rl.rateLimited(["one", "two"])).query(() => 1),
    first: t.procedure.use(rl.rateLimited.first(["one", "two"])).query(() => 1),
    slot: t.procedure.use(rl.rateLimited("slots")).query(() => 1),
    inTransaction: t.procedure.use(rl.rateLimited.transaction("one")).mutation(() => 1),
    rateLimit: rl.router,
  });
  const as = (requestId: string) => t.createCallerFactory(router)({ user: requestId, requestId });
  await as("a").single();
  await expect(as("a").single()).rejects.toThrow("exceeded");
  await as("b").list();
  await as("c").first();
  await as("d").slot();
  await as("e").inTransaction();
  await as("f").rateLimit.check({ name: "one" });
  await as("g").rateLimit.limit({ name: "two" });
  expect(heard).toEqual([
    ["one", "limit", "a"],
    ["one", "limit", "a"],
    ["one", "limit", "b"],
    ["two", "limit", "b"],
    ["one", "limit", "c"],
    ["slots", "limit", "d"],
    ["one", "limit", "e"],
    ["one", "check", "f"],
    ["two", "limit", "g"],
  ]);
});
