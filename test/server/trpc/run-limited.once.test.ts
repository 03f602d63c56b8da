/** `once` of `rateLimited`: the id of a call comes from its input. */
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createRateLimiter, memoryStore, MINUTE } from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  rateLimitResponseMeta,
} from "../../../server/trpc/index.js";

const limits = {
  few: { kind: "token bucket", rate: 3, period: MINUTE },
  some: { kind: "token bucket", rate: 5, period: MINUTE },
  wide: { kind: "token bucket", rate: 8, period: MINUTE, shards: 4 },
} as const;
const input = z.object({ nonce: z.string().optional(), fails: z.boolean().optional() });

function setUp() {
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock: () => 0 });
  const t = initTRPC.create();
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  const fields: (string | null | undefined)[] = [];
  const procedure = t.procedure.input(input).use(async ({ next, getRawInput }) => {
    const result = await next();
    const { headers } = rateLimitResponseMeta({ info: { calls: [{ getRawInput }] }, errors: [] });
    fields.push(headers?.get("RateLimit"));
    return result;
  });
  const left = async (name: "few" | "some") => (await limiter.getValue(name)).value;
  return { limiter, rl, t, procedure, fields, left };
}

function answer(options: { input: z.infer<typeof input> }): void {
  if (options.input.fails) throw new TRPCError({ code: "CONFLICT" });
}

describe("a procedure with once", () => {
  it("charges an id once, tells the procedure, and sends no header field for it", async () => {
    const { rl, t, procedure, left, fields } = setUp();
    const seen: (true | undefined)[] = [];
    const call = t
      .router({
        send: procedure
          .use(rl.rateLimited("few", { once: ({ input: { nonce } }) => nonce }))
          .mutation(({ ctx }) => void seen.push(ctx.rateLimit.repeated)),
      })
      .createCaller({});
    await call.send({ nonce: "a" });
    await call.send({ nonce: "a" });
    await call.send({});
    expect(seen).toEqual([undefined, true, undefined]);
    expect(await left("few")).toBe(1);
    expect(fields.map((field) => field !== undefined)).toEqual([true, false, true]);
  });

  it("charges several limits once together", async () => {
    const { rl, t, procedure, left } = setUp();
    const asked: string[] = [];
    const options = {
      once: ({ name, input: { nonce } }: { name: string; input: z.infer<typeof input> }) => {
        asked.push(name);
        return Promise.resolve(nonce);
      },
    };
    const call = t
      .router({
        send: procedure
          .use(rl.rateLimited(["few", "some"], options))
          .mutation(({ ctx }) => ctx.rateLimit.results.every((one) => one.ok && one.repeated)),
      })
      .createCaller({});
    expect(await call.send({ nonce: "a" })).toBe(false);
    expect(await call.send({ nonce: "a" })).toBe(true);
    expect(asked).toEqual(["few", "few"]);
    expect([await left("few"), await left("some")]).toEqual([2, 4]);
  });

  it("forgets the id of a call that costs nothing, and keeps that of a repeated one", async () => {
    const { rl, t, procedure, left } = setUp();
    const once = ({ input: { nonce } }: { input: z.infer<typeof input> }) => nonce;
    const call = t
      .router({
        send: procedure.use(rl.rateLimited("few", { once, on: "success" })).mutation(answer),
      })
      .createCaller({});
    await expect(call.send({ nonce: "a", fails: true })).rejects.toThrow("CONFLICT");
    expect(await left("few")).toBe(3);
    await call.send({ nonce: "a" });
    expect(await left("few")).toBe(2);
    // It fails, and took nothing that could come back.
    await expect(call.send({ nonce: "a", fails: true })).rejects.toThrow("CONFLICT");
    expect(await left("few")).toBe(2);
    await call.send({ nonce: "a" });
    expect(await left("few")).toBe(2);
  });

  it("rolls its id back with a transaction", async () => {
    const { rl, t, procedure, left } = setUp();
    const once = ({ input: { nonce } }: { input: z.infer<typeof input> }) => nonce;
    const call = t
      .router({ send: procedure.use(rl.rateLimited.transaction("few", { once })).mutation(answer) })
      .createCaller({});
    await expect(call.send({ nonce: "a", fails: true })).rejects.toThrow("CONFLICT");
    expect(await left("few")).toBe(3);
    for (let i = 0; i < 2; i++) await call.send({ nonce: "a" });
    expect(await left("few")).toBe(2);
  });

  it("refuses an id that no row can have as BAD_REQUEST", async () => {
    const { rl, t, procedure, left } = setUp();
    const once = ({ input: { nonce } }: { input: z.infer<typeof input> }) => nonce;
    const call = t
      .router({ send: procedure.use(rl.rateLimited("few", { once })).mutation(answer) })
      .createCaller({});
    for (const nonce of ["", "a".repeat(191), "\0"]) {
      await expect(call.send({ nonce })).rejects.toMatchObject({ code: "BAD_REQUEST" });
    }
    expect(await left("few")).toBe(3);
  });
});
