/** A charge after its procedure: with per-call configs, failing stores and repeated tries. */
import { initTRPC, TRPCError } from "@trpc/server";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  createRateLimiter,
  memoryStore,
  MINUTE,
  type RateLimitStore,
} from "../../../server/index.js";
import {
  createRateLimitTRPC,
  SHARED_BUCKET,
  rateLimitResponseMeta,
} from "../../../server/trpc/index.js";

const limits = {
  few: { kind: "token bucket", rate: 3, period: MINUTE },
  some: { kind: "token bucket", rate: 5, period: MINUTE },
} as const;
const paying = { kind: "token bucket", rate: 100, period: MINUTE } as const;
const spread = { kind: "token bucket", rate: 8, period: MINUTE, shards: 4 } as const;

function setUp(store: RateLimitStore = memoryStore()) {
  const fields: (string | null | undefined)[] = [];
  // Picks the last two of four shards.
  const limiter = createRateLimiter({ store, limits, clock: () => 0, random: () => 0.5 });
  const t = initTRPC.create();
  const rl = createRateLimitTRPC({ key: SHARED_BUCKET, t, limiter });
  // Notes the header fields that a response would have.
  const procedure = t.procedure.use(async ({ next, getRawInput }) => {
    const result = await next();
    const { headers } = rateLimitResponseMeta({ info: { calls: [{ getRawInput }] }, errors: [] });
    fields.push(headers?.get("RateLimit-Policy"), headers?.get("RateLimit"));
    return result;
  });
  return { limiter, rl, t, procedure, fields };
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => expect.fail("it passed"),
    (error: unknown) => (error instanceof TRPCError ? error.code : error),
  );

it("gives back the tokens that were taken, under the same config", async () => {
  const { limiter, rl, t, procedure } = setUp();
  const options = { count: 50, config: paying, on: "error" } as const;
  const router = t.router({ ask: procedure.use(rl.rateLimited("few", options)).query(() => 1) });
  await router.createCaller({}).ask();
  expect((await limiter.getValue("few", { config: paying })).value).toBe(100);
});

it("fills all shards of a per-call config", async () => {
  const { limiter, rl, t, procedure } = setUp();
  const options = { count: 4, config: spread, resetOnSuccess: true } as const;
  const router = t.router({ ask: procedure.use(rl.rateLimited("few", options)).query(() => 1) });
  await router.createCaller({}).ask();
  expect((await limiter.getValue("few", { config: spread })).value).toBe(8);
});

it("uses the per-call config in the header fields", async () => {
  const { rl, t, procedure, fields } = setUp();
  const charged = procedure.use(rl.rateLimited("few", { config: paying }));
  await t
    .router({ ask: charged.query(() => 1) })
    .createCaller({})
    .ask();
  expect(fields).toEqual(['"few";q=100;w=60', '"few";r=99;t=1']);
});

it("answers after the tokens were given back, or could not be given back", async () => {
  const memory = memoryStore();
  let calls = 0;
  let isDown = false;
  const { rl, t, procedure } = setUp({
    ...memory,
    async apply(...args) {
      calls++;
      if (isDown && calls > 1) throw new Error("the store is down");
      await new Promise((resolve) => setTimeout(resolve, 1));
      return memory.apply(...args);
    },
  });
  const charged = procedure.use(rl.rateLimited(["few", "some"], { on: "error" }));
  const { ask } = t.router({ ask: charged.query(() => "done") }).createCaller({});
  expect(await ask()).toBe("done");
  // Another limiter sees the tokens at once.
  const peer = createRateLimiter({ store: memory, limits, clock: () => 0 });
  expect(await peer.check("few", { count: 3 })).toMatchObject({ ok: true });
  [calls, isDown] = [0, true];
  expect(await ask()).toBe("done");
  expect(await peer.check("few", { count: 3 })).toMatchObject({ ok: false, value: 2 });
});

it("reports only the last try of a transaction", async () => {
  const { limiter, rl, t, procedure, fields } = setUp();
  let tries = 0;
  const router = t.router({
    ask: procedure.use(rl.rateLimited.transaction("some")).mutation(async () => {
      // The transaction conflicts with this call.
      if (tries++ === 0) await limiter.reset("some");
    }),
  });
  await limiter.limit("some", { count: 2 });
  await router.createCaller({}).ask();
  expect(tries).toBe(2);
  expect(fields[1]).toBe('"some";r=4;t=12');
});

it("answers with the outcome of the last try, not with an earlier failure", async () => {
  const memory = memoryStore();
  const { limiter, rl, t, procedure } = setUp({
    ...memory,
    transaction: (run, options) =>
      memory.transaction!(run, options).catch(() => memory.transaction!(run, options)),
  });
  const router = t.router({
    ask: procedure.use(rl.rateLimited.transaction("few")).mutation(async () => {
      await limiter.limit("few", { count: 3 });
      throw new TRPCError({ code: "CONFLICT" });
    }),
  });
  expect(await codeOf(router.createCaller({}).ask())).toBe("TOO_MANY_REQUESTS");
});

it("an output that fails its validation gives the tokens back, with .output() after the middleware", async () => {
  const { limiter, rl, t } = setUp();
  const transaction = rl.rateLimited.transaction("few");
  const onSuccess = rl.rateLimited("some", { on: () => false });
  const wrong = () => "no number" as unknown as number;
  const router = t.router({
    inside: t.procedure.use(transaction).use(onSuccess).output(z.number()).mutation(wrong),
    outside: t.procedure.output(z.number()).use(transaction).use(onSuccess).mutation(wrong),
  });
  const { inside, outside } = router.createCaller({});
  expect(await codeOf(inside())).toBe("INTERNAL_SERVER_ERROR");
  expect((await limiter.getValue("few")).value).toBe(3);
  expect((await limiter.getValue("some")).value).toBe(5);
  // Before the middleware, it is checked after the commit: the middleware has seen a success.
  expect(await codeOf(outside())).toBe("INTERNAL_SERVER_ERROR");
  expect((await limiter.getValue("few")).value).toBe(2);
});

it("the header fields are there when getRawInput is replaced after the middleware", async () => {
  const { rl, t, procedure, fields } = setUp();
  const replacing = t.middleware(({ next }) => next({ getRawInput: async () => "other" }));
  const limited = rl.rateLimited("few");
  const router = t.router({
    after: procedure
      .use(limited)
      .use(replacing)
      .query(() => true),
    before: procedure
      .use(replacing)
      .use(limited)
      .query(() => true),
  });
  await router.createCaller({}).after();
  await router.createCaller({}).before();
  expect(fields[0]).toBe('"few";q=3;w=60');
  expect(fields[2]).toBeUndefined();
});
