/** A leased limit behind tRPC: a page is told the sum of the row and this process's block. */
import { setImmediate } from "node:timers/promises";
import { initTRPC } from "@trpc/server";
import { expect, it } from "vitest";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitSnapshot,
} from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { createManualClock } from "../../../core/testing.js";

const hot = {
  kind: "token bucket",
  period: MINUTE,
  lease: { ms: 10_000 },
  plans: { free: 6000, paid: 60_000 },
} as const;

function setUp() {
  const store = memoryStore();
  const clock = createManualClock();
  const limiter = createRateLimiter({ store, clock, plans: ["free", "paid"], limits: { hot } });
  const peer = createRateLimiter({ store, clock, plans: ["free", "paid"], limits: { hot } });
  const t = initTRPC.context<{ plan: "free" | "paid" }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: () => "team",
    plan: ({ ctx }) => ctx.plan,
    authorize: () => true,
  });
  const send = t.procedure.use(rl.rateLimited("hot")).mutation(() => "done");
  const router = t.router({ rateLimit: rl.router, send });
  return { as: (plan: "free" | "paid") => t.createCallerFactory(router)({ plan }), peer };
}

it.each(["free", "paid"] as const)(
  "serves a %s caller from a block, and shows it",
  async (plan) => {
    const { as, peer } = setUp();
    const caller = as(plan);
    for (let i = 0; i < 60; i++) await caller.send();
    await setImmediate();
    const row = (await peer.getValue("hot", { key: "team", plan })).value;
    const status = await caller.rateLimit.status({ name: "hot" });
    expect(status.value).toBeGreaterThanOrEqual(row + 4);
    expect(status.config).not.toHaveProperty("lease");
    await caller.send();
    expect((await caller.rateLimit.status({ name: "hot" })).value).toBe(status.value - 1);
    expect((await peer.getValue("hot", { key: "team", plan })).value).toBe(row);
    await caller.rateLimit.reset({ name: "hot" });
    expect((await caller.rateLimit.status({ name: "hot" })).value).toBe(
      plan === "paid" ? 60_000 : 6000,
    );
  },
);

it("tells a stream when a block is taken", async () => {
  const { as } = setUp();
  const caller = as("free");
  const stream = (await caller.rateLimit.watch({
    items: [{ name: "hot" }],
  })) as AsyncIterable<RateLimitSnapshot>;
  const values: number[] = [];
  for await (const { value } of stream) {
    values.push(value);
    if (values.length === 1) for (let i = 0; i < 30; i++) await caller.send();
    if (value <= 5000) break;
  }
  // Of a full bucket, a block costs what refills in its life.
  expect(values[0]).toBe(6000);
  expect(values.at(-1)).toBeLessThanOrEqual(5000);
});
