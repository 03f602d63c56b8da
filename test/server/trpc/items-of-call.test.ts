/** The plan by which a procedure charges a call: its own plan, or the caller's. */
import { initTRPC, type TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, formatRateLimitError } from "../../../server/trpc/index.js";

const limits = {
  pictures: { kind: "fixed window", period: "month", start: 0, plans: { free: 5, pro: 50 } },
  jobs: { kind: "concurrency", plans: { free: 1, pro: 2 } },
  posts: { kind: "token bucket", period: MINUTE, rate: 10 },
  credits: { kind: "credits" },
} as const;

type Plan = "free" | "pro";

/** Everyone is on the free plan, unless a procedure says something else. */
function setUp(expose?: readonly (keyof typeof limits)[]) {
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock: () => 1_700_000_000_000,
    plans: ["free", "pro"],
    limits,
  });
  const t = initTRPC.context<{ user: string; trial?: boolean }>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.user,
    plan: () => "free",
    ...(expose !== undefined && { expose }),
  });
  const left = async (plan: Plan, key = "ada") =>
    (await limiter.getValue("pictures", { key, plan })).value;
  return { limiter, t, rl, left };
}

describe("a procedure's own plan", () => {
  it("goes before that of the caller, and counts on the same row", async () => {
    const { t, rl, left } = setUp();
    const router = t.router({
      free: t.procedure.use(rl.rateLimited("pictures")).query(({ ctx }) => ctx.rateLimit.value),
      pro: t.procedure
        .use(rl.rateLimited("pictures", { plan: "pro" }))
        .query(({ ctx }) => ctx.rateLimit.value),
    });
    const caller = router.createCaller({ user: "ada" });
    expect(await caller.free()).toBe(4);
    expect(await caller.pro()).toBe(48);
    expect(await left("free")).toBe(3);
  });

  it("may be a function of the call, which is asked for limits with plans alone", async () => {
    const { t, rl, left } = setUp();
    const asked: unknown[] = [];
    const router = t.router({
      draw: t.procedure
        .input(z.enum(["free", "pro"]))
        .use(
          rl.rateLimited(["pictures", "posts"], {
            plan: async ({ name, ctx, input, path }) => {
              asked.push([name, ctx.user, path]);
              return input;
            },
          }),
        )
        .query(({ ctx }) => ctx.rateLimit.results.map(({ value }) => value)),
    });
    const caller = router.createCaller({ user: "ada" });
    expect(await caller.draw("pro")).toEqual([49, 9]);
    expect(await caller.draw("free")).toEqual([3, 8]);
    const once = ["pictures", "ada", "draw"];
    expect(asked).toEqual([once, once]);
    expect(await left("pro")).toBe(48);
  });

  it("counts in a transaction, where several limits may pay, and for slots", async () => {
    const { limiter, t, rl, left } = setUp();
    const router = t.router({
      inTransaction: t.procedure
        .use(rl.rateLimited.transaction("pictures", { plan: "pro", count: 6 }))
        .query(({ ctx }) => ctx.rateLimit.value),
      first: t.procedure
        .use(rl.rateLimited.first(["pictures", "credits"], { plan: "pro", count: 6 }))
        .query(({ ctx }) => ctx.rateLimit.paid),
      both: t.procedure
        .use(rl.rateLimited(["pictures", "jobs"], { plan: "pro", on: "success" }))
        .query(({ ctx }) => ctx.rateLimit.results.map(({ value }) => value)),
      byCaller: t.procedure.use(rl.rateLimited("jobs")).query(({ ctx }) => ctx.rateLimit.value),
    });
    const caller = router.createCaller({ user: "ada" });
    expect(await caller.inTransaction()).toBe(44);
    expect(await caller.first()).toEqual([{ name: "pictures", key: "ada", count: 6 }]);
    const slot = await limiter.enter("jobs", { key: "ada", plan: "pro" });
    expect(slot.ok).toBe(true);
    await expect(caller.byCaller()).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
    expect(await caller.both()).toEqual([37, 0]);
    if (slot.ok) await slot.release();
    expect(await caller.byCaller()).toBe(0);
    expect(await left("pro")).toBe(37);
  });

  it("is given back and filled again by the same plan", async () => {
    const { t, rl, left } = setUp();
    const router = t.router({
      free: t.procedure
        .use(rl.rateLimited("pictures", { plan: "pro", on: "error", count: 20 }))
        .query(() => "costs nothing"),
      reset: t.procedure
        .use(rl.rateLimited("pictures", { plan: "pro", resetOnSuccess: true }))
        .query(() => "fills the bucket"),
      pay: t.procedure
        .use(rl.rateLimited("pictures", { plan: "pro", count: 20 }))
        .query(() => "paid"),
    });
    const caller = router.createCaller({ user: "ada" });
    await caller.pay();
    await caller.free();
    expect(await left("pro")).toBe(30);
    await caller.reset();
    expect(await left("pro")).toBe(50);
  });

  it("leaves a config of the call as it is", async () => {
    const { t, rl } = setUp();
    const week = { ...limits.pictures, plans: undefined, rate: 7 };
    const { plans: _, ...config } = week;
    const router = t.router({
      draw: t.procedure
        .use(rl.rateLimited("pictures", { config: ({ ctx }) => (ctx.trial ? config : undefined) }))
        .query(({ ctx }) => ctx.rateLimit.value),
    });
    expect(await router.createCaller({ user: "ada", trial: true }).draw()).toBe(6);
    expect(await router.createCaller({ user: "ada" }).draw()).toBe(3);
  });
});

describe("a plan that is none", () => {
  it("fails the call, and tells the developer alone", async () => {
    const { t, rl, left } = setUp();
    const router = t.router({
      draw: t.procedure
        .use(rl.rateLimited("pictures", { plan: () => "gold" as Plan }))
        .query(() => "drawn"),
    });
    const error = (await router
      .createCaller({ user: "ada" })
      .draw()
      .catch((thrown: unknown) => thrown)) as TRPCError;
    expect(error).toMatchObject({
      code: "INTERNAL_SERVER_ERROR",
      message: "A rate limit of this request has no valid config",
      cause: { name: "RateLimitConfigError", option: "plan", value: "gold" },
    });
    expect(error.cause!.message).toBe(
      'the option plan returned "gold" for rate limit "pictures"; return one of "free", "pro"',
    );
    expect(await left("free")).toBe(5);
  });

  it("names no limit that clients may not know", async () => {
    const { t, rl } = setUp(["posts"]);
    const router = t.router({
      draw: t.procedure.use(rl.rateLimited("pictures", { count: 5 })).query(() => "drawn"),
    });
    const caller = router.createCaller({ user: "ada" });
    await caller.draw();
    const error = (await caller.draw().catch((thrown: unknown) => thrown)) as TRPCError;
    expect(error.code).toBe("TOO_MANY_REQUESTS");
    expect(error.message).not.toContain("pictures");
  });

  it.each([
    [
      { plan: "gold" },
      'plan must be one of "free", "pro", or a function of the request, got "gold"',
    ],
    [{ plan: null }, "plan must be one of"],
    [{ plan: "pro", config: limits.posts }, "a procedure has a plan or a config, got both"],
  ])("is found at definition: %o", (options, message) => {
    const { rateLimited } = setUp().rl;
    for (const use of [rateLimited, rateLimited.transaction] as unknown as [
      (...args: unknown[]) => unknown,
    ]) {
      expect(() => use("pictures", options)).toThrow(message);
    }
    expect(() => rateLimited.first(["pictures"], options as never)).toThrow(message);
  });
});
