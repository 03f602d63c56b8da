/** `hold` of `rateLimited`: tokens that a procedure, or a job that it starts, settles. */
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";

const limits = {
  tokens: { kind: "fixed window", rate: 100, period: "month", start: 0, holds: true },
  credits: { kind: "credits", holds: true },
  perMinute: { kind: "token bucket", rate: 5, period: MINUTE },
  slots: { kind: "concurrency", slots: 1 },
} as const;
const hold = { for: 10 * MINUTE, then: "release" } as const;
const input = z.object({ id: z.string().optional(), fails: z.boolean().optional() });

function setUp() {
  const clock = createManualClock();
  const store = memoryStore();
  const limiter = createRateLimiter({ store, limits, clock });
  const worker = createRateLimiter({ store, limits, clock });
  const t = initTRPC.create();
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const held = async () => {
    const { value, held: count } = await limiter.getValue("tokens");
    return [value, count];
  };
  return { clock, limiter, worker, t, rl, procedure: t.procedure.input(input), held };
}

function answer(options: { input: z.infer<typeof input> }): void {
  if (options.input.fails) throw new TRPCError({ code: "CONFLICT" });
}

describe("a procedure with hold", () => {
  it("settles after its answer, once", async () => {
    const { rl, t, procedure, held } = setUp();
    const later: (() => Promise<unknown>)[] = [];
    const call = t
      .router({
        generate: procedure
          .use(rl.rateLimited("tokens", { count: 60, hold }))
          .mutation(({ ctx }) => {
            later.push(() => ctx.rateLimit.settle(25));
            return ctx.rateLimit;
          }),
      })
      .createCaller({});
    const sent = await call.generate({});
    expect(JSON.parse(JSON.stringify(sent))).not.toHaveProperty("once");
    expect(await held()).toEqual([40, 60]);
    await later[0]!();
    await later[0]!();
    expect(await held()).toEqual([75, 0]);
  });

  it("hands its id to a worker, which settles it", async () => {
    const { rl, t, procedure, worker, held } = setUp();
    const ids: string[] = [];
    const call = t
      .router({
        generate: procedure
          .use(rl.rateLimited(["perMinute", "tokens"], { once: ({ input: { id } }) => id, hold }))
          .mutation(({ ctx }) => void ids.push(ctx.rateLimit.once!)),
      })
      .createCaller({});
    await call.generate({ id: "job 1" });
    await call.generate({});
    await call.generate({});
    expect(ids[0]).toBe("job 1");
    expect(new Set(ids).size).toBe(3);
    expect(await held()).toEqual([97, 3]);
    for (const once of ids) {
      expect(await worker.settle("tokens", { once }, 2)).toMatchObject({ settled: true });
    }
    expect(await held()).toEqual([94, 0]);
  });

  it("that fails gives its tokens back by its choice, or leaves them to lapse", async () => {
    const { rl, t, procedure, held, clock, limiter } = setUp();
    const router = t.router({
      kept: procedure.use(rl.rateLimited("tokens", { count: 60, hold })).mutation(answer),
      back: procedure
        .use(rl.rateLimited("tokens", { count: 40, hold, on: "success" }))
        .mutation(answer),
    });
    const call = router.createCaller({});
    await expect(call.back({ fails: true })).rejects.toThrow(/CONFLICT/);
    expect(await held()).toEqual([100, 0]);
    await expect(call.kept({ fails: true })).rejects.toThrow(/CONFLICT/);
    expect(await held()).toEqual([40, 60]);
    clock.advance(10 * MINUTE);
    expect(await limiter.limit("tokens", { count: 100 })).toMatchObject({ ok: true, value: 0 });
  });

  it("holds what several limits paid", async () => {
    const { rl, t, procedure, limiter, worker } = setUp();
    await limiter.credit("credits", { count: 50 });
    const names = ["tokens", "credits"] as const;
    const call = t
      .router({
        generate: procedure
          .use(rl.rateLimited.first(names, { count: 120, split: true, hold }))
          .mutation(({ ctx }) => ctx.rateLimit.once!),
      })
      .createCaller({});
    const once = await call.generate({});
    expect(await worker.settle(names, { once }, 110)).toMatchObject({ settled: true, count: 120 });
    expect((await limiter.getValue("credits")).value).toBe(40);
  });

  it("that repeats a call, and fails, leaves the hold to the first one", async () => {
    const { rl, t, procedure, limiter, held } = setUp();
    await limiter.credit("credits", { count: 50 });
    const once = (of: { input: z.infer<typeof input> }) => of.input.id;
    const options = { once, hold, on: "success" } as const;
    const working: (() => void)[] = [];
    const work = async (call: { input: z.infer<typeof input> }) => {
      answer(call);
      await new Promise<void>((resolve) => working.push(resolve));
    };
    const names = ["tokens", "credits"] as const;
    const router = t.router({
      one: procedure
        .use(rl.rateLimited("tokens", { ...options, count: 60 }))
        .mutation(async ({ ctx, ...call }) => {
          await work(call);
          await ctx.rateLimit.settle(30);
        }),
      first: procedure
        .use(rl.rateLimited.first(names, { ...options, count: 80, split: true }))
        .mutation(async ({ ctx, ...call }) => {
          await work(call);
          await ctx.rateLimit.settle(70);
        }),
    });
    const call = router.createCaller({});
    const one = call.one({ id: "a" });
    await expect.poll(held).toEqual([40, 60]);
    const first = call.first({ id: "b" });
    await expect.poll(held).toEqual([0, 100]);
    await expect(call.one({ id: "a", fails: true })).rejects.toThrow(/CONFLICT/);
    await expect(call.first({ id: "b", fails: true })).rejects.toThrow(/CONFLICT/);
    expect(await held()).toEqual([0, 100]);
    await expect.poll(() => working.length).toBe(2);
    for (const end of working) end();
    await Promise.all([one, first]);
    expect(await held()).toEqual([30, 0]);
    expect(await limiter.getValue("credits")).toMatchObject({ value: 20, held: 0 });
  });
});
