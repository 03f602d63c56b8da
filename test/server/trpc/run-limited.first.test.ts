/** `rateLimited(["member", { first: ["plan", "credits"] }])`, over HTTP. */
import { TRPCError } from "@trpc/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import { DAY, HOUR, isRateLimitError, MINUTE, SECOND } from "../../../server/index.js";
import { rateLimitResponseMeta } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const limits = {
  member: { kind: "token bucket", rate: 60, period: MINUTE, capacity: 3, holds: true },
  plan: { kind: "fixed window", rate: 10, period: DAY, start: 0, holds: true },
  credits: { kind: "credits", holds: true },
  daily: { kind: "fixed window", rate: 10, period: DAY, start: 0 },
  shown: { kind: "token bucket", rate: 60, period: MINUTE, shadow: true },
  jobs: { kind: "concurrency", slots: 1 },
} as const;

async function start() {
  const clock = createManualClock();
  const { limiter, t, rl } = createLimitedTRPC(limits, { clock });
  const { rateLimited } = rl;
  const cost = z.number();
  const planThenCredits = { first: ["plan", "credits"] } as const;
  const count = ({ name, input }: { name: string; input: number }) =>
    name === "member" ? 1 : input;
  const procedure = t.procedure.input(cost);
  const fail = () => {
    throw new TRPCError({ code: "CONFLICT" });
  };
  const router = t.router({
    rateLimit: rl.router,
    draw: procedure
      .use(rateLimited(["member", planThenCredits], { count }))
      .mutation(({ ctx }) => ctx.rateLimit.results[1]),
    write: procedure
      .use(rateLimited(["member", { first: ["plan", "credits"], split: true }], { count }))
      .mutation(async ({ ctx }) => {
        const settled = await ctx.rateLimit.settle({ credits: 4 });
        const [, paid] = ctx.rateLimit.results;
        return { settled, paid: paid.ok && paid.paid };
      }),
    fail: procedure
      .use(rateLimited(["member", planThenCredits], { count, on: "success" }))
      .mutation(fail),
    hold: procedure
      .use(
        rateLimited(["member", planThenCredits], {
          count,
          once: () => "job",
          hold: { for: HOUR, then: "keep" },
        }),
      )
      .mutation(({ ctx }) => ctx.rateLimit.once),
    run: procedure
      .use(rateLimited(["jobs", planThenCredits], { count }))
      .mutation(({ ctx }) => [ctx.rateLimit.results[1], ctx.rateLimit.signal?.aborted]),
    alone: procedure
      .use(rateLimited([planThenCredits], { count }))
      .mutation(({ ctx }) => ctx.rateLimit.results.length),
  });
  const server = await startServer(router, () => ({}), { responseMeta: rateLimitResponseMeta });
  onTestFinished(() => server.kill());
  const client = server.connect({ stream: false });
  const valueOf = async (name: keyof typeof limits) => (await limiter.getValue(name)).value;
  return {
    clock,
    limiter,
    client,
    url: server.url,
    left: async () => [await valueOf("member"), await valueOf("plan"), await valueOf("credits")],
  };
}

it("takes of the member, and of the first that can pay", async () => {
  const { limiter, client, left } = await start();
  await limiter.credit("credits", { count: 8 });
  const byPlan = await client.draw.mutate(7);
  expect(byPlan).toMatchObject({ ok: true, paid: [{ name: "plan", count: 7 }] });
  const byCredits = await client.draw.mutate(7);
  expect(byCredits).toMatchObject({ ok: true, paid: [{ name: "credits", count: 7 }] });
  expect(await left()).toEqual([1, 3, 1]);
});

it("names all that are exhausted, and takes nothing", async () => {
  const { limiter, client, left, clock } = await start();
  await limiter.credit("credits", { count: 5 });
  await client.draw.mutate(10);
  const error: unknown = await client.draw.mutate(7).catch((thrown: unknown) => thrown);
  expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
    name: "plan",
    denials: [{ name: "plan" }, { name: "credits", retryAfter: 8e15, value: 5 }],
  });
  expect(await left()).toEqual([2, 0, 5]);
  await limiter.limit("member", { count: 2 });
  const both: unknown = await client.draw.mutate(4).catch((thrown: unknown) => thrown);
  expect(isRateLimitError(both) && both.data.rateLimit).toMatchObject({
    name: "member",
    retryAfter: SECOND,
    denials: [{ name: "member" }],
  });
  clock.advance(SECOND);
  expect(await client.draw.mutate(4)).toMatchObject({ paid: [{ name: "credits" }] });
});

it("settles the payment under the name of one of its limits", async () => {
  const { limiter, client, left } = await start();
  await limiter.credit("credits", { count: 20 });
  expect(await client.write.mutate(16)).toEqual({
    settled: { settled: true },
    paid: [
      { name: "plan", count: 10 },
      { name: "credits", count: 6 },
    ],
  });
  expect(await left()).toEqual([2, 6, 20]);
});

it("gives back to the member and to the payer where the call costs nothing", async () => {
  const { limiter, client, left } = await start();
  await limiter.credit("credits", { count: 8 });
  await limiter.limit("plan", { count: 9 });
  await expect(client.fail.mutate(7)).rejects.toThrow("CONFLICT");
  expect(await left()).toEqual([3, 1, 8]);
});

it("holds what each has given under one id", async () => {
  const { limiter, client, left } = await start();
  expect(await client.hold.mutate(7)).toBe("job");
  const names = ["member", "plan", "credits"] as const;
  const settled = await limiter.settle(names, { once: "job" }, 1);
  expect(settled).toMatchObject({ settled: true });
  expect(await left()).toEqual([2, 9, 0]);
});

it("holds a slot while one of the first pays", async () => {
  const { client, limiter, left } = await start();
  const [paid, isAborted] = await client.run.mutate(7);
  expect([paid, isAborted]).toMatchObject([{ paid: [{ name: "plan" }] }, false]);
  expect(await client.alone.mutate(1)).toBe(1);
  expect(await left()).toEqual([3, 2, 0]);
  expect((await limiter.check("jobs")).value).toBe(1);
});

it("tells what is left of the limits that were asked in header fields", async () => {
  const { url } = await start();
  const response = await fetch(`${url}/draw`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "7",
  });
  expect(response.headers.get("ratelimit")).toContain('"plan";r=3');
  expect(response.headers.get("ratelimit")).toContain('"member";r=2');
  expect(response.headers.get("ratelimit")).not.toContain("credits");
});

describe("rateLimited with a first", () => {
  const { rl } = createLimitedTRPC(limits);
  const hold = { for: HOUR, then: "keep" } as const;

  it("goes with limits that hold and with limits that do not", () => {
    rl.rateLimited(["member", { first: ["daily"] }], { hold });
    rl.rateLimited(["daily", { first: ["plan", "credits"] }], { hold });
    rl.rateLimited.transaction(["daily", { first: ["plan", "credits"] }]);
  });
});
