/** `rateLimited.first`, over HTTP: the plan pays for a call, and then the credits. */
import { TRPCError } from "@trpc/server";
import { expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import { isRateLimitError, MINUTE, SECOND } from "../../../server/index.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const limits = {
  plan: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 10 },
  credits: { kind: "credits" },
  shown: { kind: "token bucket", rate: 60, period: MINUTE, shadow: true },
} as const;

async function start() {
  const clock = createManualClock();
  const { limiter, t, rl } = createLimitedTRPC(limits, { clock });
  const cost = z.number();
  const count = ({ input }: { input: number }) => input;
  const { first } = rl.rateLimited;
  const router = t.router({
    rateLimit: rl.router,
    draw: t.procedure
      .input(cost)
      .use(first(["plan", "credits"], { count }))
      .mutation(({ ctx }) => ctx.rateLimit.paid),
    write: t.procedure
      .input(cost)
      .use(first(["plan", "credits"], { count, split: true }))
      .mutation(async ({ ctx }) => {
        await ctx.rateLimit.settle(
          ctx.rateLimit.paid.reduce((sum, paid) => sum + paid.count, 0) / 2,
        );
        return ctx.rateLimit.paid;
      }),
    fail: t.procedure
      .input(cost)
      .use(first(["plan", "credits"], { count, on: "success" }))
      .mutation(() => {
        throw new TRPCError({ code: "CONFLICT" });
      }),
  });
  const server = await startServer(router, () => ({}));
  onTestFinished(() => server.kill());
  const client = server.connect({ stream: false });
  return {
    clock,
    limiter,
    client,
    rl,
    left: async () => [
      (await limiter.getValue("plan")).value,
      (await limiter.getValue("credits")).value,
    ],
  };
}

it("tells the procedure who paid, and is denied until one of them can", async () => {
  const { limiter, client, left, clock } = await start();
  await limiter.credit("credits", { count: 8 });
  expect(await client.draw.mutate(7)).toEqual([{ name: "plan", count: 7 }]);
  expect(await client.draw.mutate(7)).toEqual([{ name: "credits", count: 7 }]);
  const error: unknown = await client.draw.mutate(7).catch((thrown: unknown) => thrown);
  expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
    name: "plan",
    retryAfter: 4 * SECOND,
    denials: [{ name: "plan" }, { name: "credits", retryAfter: 8e15, value: 1 }],
  });
  clock.advance(4 * SECOND);
  expect(await client.draw.mutate(7)).toEqual([{ name: "plan", count: 7 }]);
  expect(await left()).toEqual([0, 1]);
});

it("splits a count, and gives back what was paid last", async () => {
  const { limiter, client, left } = await start();
  await limiter.credit("credits", { count: 20 });
  expect(await client.write.mutate(16)).toEqual([
    { name: "plan", count: 10 },
    { name: "credits", count: 6 },
  ]);
  expect(await left()).toEqual([2, 20]);
});

it("gives everything back of a call that costs nothing", async () => {
  const { client, left } = await start();
  await expect(client.fail.mutate(5)).rejects.toThrow("CONFLICT");
  expect(await left()).toEqual([10, 0]);
});
