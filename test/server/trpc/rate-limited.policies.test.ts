/** The policies of limits, over HTTP: closed log-ins, months, shadows, and stores that fail. */
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  isRateLimitError,
  type LimitConfigs,
  MINUTE,
  rateLimitHeaders,
  rateLimitResponse,
  SECOND,
} from "../../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
  SHARED_BUCKET,
} from "../../../server/trpc/index.js";
import { createSqlite } from "../../support/database.js";
import { startServer } from "../../support/http.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";
import { openStore } from "../../support/open-store.js";
import { freePort } from "../../support/free-port.js";

const few = { kind: "token bucket", rate: 2, period: MINUTE } as const;
const logIn = { kind: "token bucket", rate: 5, period: MINUTE, blockFor: 15 * MINUTE } as const;
const limits = {
  logIn,
  few,
  monthly: { kind: "fixed window", rate: 2, period: "month", start: Date.UTC(2027, 0, 31) },
  trial: { ...few, shadow: true },
} as const;

async function startApp<const TLimits extends LimitConfigs>(
  given: TLimits,
  isReachable: boolean = true,
) {
  const database = await createSqlite();
  const opened = isReachable
    ? openStore("sqlite", database.url)
    : // Nothing listens there.
      openStore("pg", `postgresql://127.0.0.1:${await freePort()}/none`);
  const clock = createManualClock(Date.UTC(2028, 1, 29));
  const limiter = createRateLimiter({ store: opened.store, clock, limits: given, logger: false });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ t, limiter, key: () => SHARED_BUCKET, authorize: () => true });
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => opened.close());
  return { limiter, clock, t, rl };
}

async function failureOf(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => expect.fail("it passed"),
    (thrown: unknown) => thrown,
  );
  return error as { data: { code: string } };
}

describe("log-ins with blockFor and `on: error`", () => {
  async function start() {
    const { limiter, clock, t, rl } = await startApp(limits);
    const attempt = t.procedure.input(z.string());
    const verify = ({ input }: { input: string }) => {
      if (input !== "right") throw new TRPCError({ code: "UNAUTHORIZED" });
      return "welcome";
    };
    const router = t.router({
      rateLimit: rl.router,
      logIn: attempt
        .use(rl.rateLimited("logIn", { on: "error", resetOnSuccess: true }))
        .mutation(verify),
    });
    const server = await startServer(router, () => ({}));
    onTestFinished(() => server.kill());
    const client = server.connect({ stream: false });
    const guess = async () => (await failureOf(client.logIn.mutate("wrong"))).data.code;
    return { limiter, clock, client, guess };
  }

  it("closes after five failures, for everybody who knows the password, too", async () => {
    const { clock, client, guess } = await start();
    for (let i = 0; i < 5; i++) expect(await guess()).toBe("UNAUTHORIZED");
    expect(await guess()).toBe("TOO_MANY_REQUESTS");
    clock.advance(7 * MINUTE);
    const error = await failureOf(client.logIn.mutate("right"));
    expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
      name: "logIn",
      retryAfter: 8 * MINUTE + 12 * SECOND,
    });
    clock.advance(8 * MINUTE + 12 * SECOND - 1);
    expect(await guess()).toBe("TOO_MANY_REQUESTS");
    clock.advance(1);
    expect(await client.logIn.mutate("right")).toBe("welcome");
  });

  it("forgets the failures after a success", async () => {
    const { client, guess } = await start();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 4; i++) expect(await guess()).toBe("UNAUTHORIZED");
      expect(await client.logIn.mutate("right")).toBe("welcome");
    }
  });

  it("lets five of many concurrent guesses through", async () => {
    const { client, guess } = await start();
    const codes = await Promise.all(Array.from({ length: 30 }, guess));
    expect(codes.filter((code) => code === "UNAUTHORIZED")).toHaveLength(5);
    expect(await client.rateLimit.check.query({ name: "logIn" })).toMatchObject({
      ok: false,
      retryAfter: 15 * MINUTE + 12 * SECOND,
    });
  });

  it("is denied to a transaction whose config for a call has a block", async () => {
    const { limiter, t, rl } = await startApp(limits);
    const config = () => ({ ...few, blockFor: MINUTE });
    const send = t.procedure.use(rl.rateLimited.transaction("few", { config })).mutation(() => 1);
    await expect(t.router({ send }).createCaller({}).send()).rejects.toMatchObject({
      code: "INTERNAL_SERVER_ERROR",
      cause: { message: expect.stringContaining('cannot charge "few"') },
    });
    expect((await limiter.getValue("few")).value).toBe(2);
  });
});

describe("a monthly limit", () => {
  it("denies until the next billing day, in the error and in the header fields", async () => {
    const { limiter, clock, t, rl } = await startApp(limits);
    const router = t.router({ use: t.procedure.use(rl.rateLimited("monthly")).mutation(() => 1) });
    const server = await startServer(router, () => ({}));
    onTestFinished(() => server.kill());
    const client = server.connect({ stream: false });
    await client.use.mutate();
    await client.use.mutate();
    const error = await failureOf(client.use.mutate());
    const wait = Date.UTC(2028, 2, 31) - clock();
    expect(isRateLimitError(error) && error.data.rateLimit).toMatchObject({
      retryAfter: wait,
      config: { period: "month", start: Date.UTC(2027, 0, 31) },
    });
    const denied = await limiter.limit("monthly");
    expect(rateLimitHeaders(denied, { limiter, name: "monthly" })).toEqual({
      "Retry-After": `${wait / 1000}`,
      "RateLimit-Policy": `"monthly";q=2;w=${wait / 1000}`,
      RateLimit: `"monthly";r=0;t=${wait / 1000}`,
    });
    clock.advance(wait);
    expect(await client.use.mutate()).toBe(1);
  });
});

describe("a shadow", () => {
  it("passes every call, tells the procedure, and denies nothing to the client", async () => {
    const { t, rl } = await startApp(limits);
    const router = t.router({
      rateLimit: rl.router,
      post: t.procedure
        .use(rl.rateLimited("trial"))
        .mutation(({ ctx }) => ctx.rateLimit.shadow ?? null),
      both: t.procedure
        .use(rl.rateLimited(["trial", "few"]))
        .mutation(({ ctx }) => ctx.rateLimit.results.map(({ ok }) => ok)),
    });
    const server = await startServer(router, () => ({}));
    onTestFinished(() => server.kill());
    const client = server.connect({ stream: false });
    expect(await client.post.mutate()).toBeNull();
    expect(await client.post.mutate()).toBeNull();
    const wouldWait = { ok: false, retryAfter: 30 * SECOND };
    for (let i = 0; i < 5; i++) expect(await client.post.mutate()).toEqual(wouldWait);
    expect(await client.both.mutate()).toEqual([true, true]);
    expect(await client.rateLimit.check.query({ name: "trial" })).toMatchObject({ ok: true });
    await client.both.mutate();
    const error = await failureOf(client.both.mutate());
    expect(isRateLimitError(error) && error.data.rateLimit.name).toBe("few");
  });
});

describe("a limit that passes calls when the store fails", () => {
  it("passes the middleware and the router, and tells the client nothing of it", async () => {
    const failing = {
      open: { ...few, whenStoreFails: "allow" },
      closed: few,
    } as const;
    const { t, rl } = await startApp(failing, false);
    const router = t.router({
      rateLimit: rl.router,
      open: t.procedure
        .use(rl.rateLimited("open"))
        .mutation(({ ctx }) => ctx.rateLimit.storeFailed === true),
      settling: t.procedure.use(rl.rateLimited("open")).mutation(async ({ ctx }) => {
        await ctx.rateLimit.settle(20);
        return "done";
      }),
      failing: t.procedure
        .use(rl.rateLimited("open", { on: "success" }))
        .mutation(() => Promise.reject(new TRPCError({ code: "CONFLICT" }))),
      both: t.procedure.use(rl.rateLimited(["open", "closed"])).mutation(() => true),
    });
    const server = await startServer(router, () => ({}));
    onTestFinished(() => server.kill());
    const client = server.connect({ stream: false });
    expect(await client.open.mutate()).toBe(true);
    expect(await client.settling.mutate()).toBe("done");
    expect((await failureOf(client.failing.mutate())).data.code).toBe("CONFLICT");
    const calls = [
      client.both.mutate(),
      client.rateLimit.check.query({ name: "closed" }),
      client.rateLimit.status.query({ name: "open" }),
    ];
    // Any of them may fail first.
    for (const error of await Promise.all(calls.map(failureOf))) {
      expect(error.data.code).toBe("SERVICE_UNAVAILABLE");
      expect(JSON.stringify(error)).not.toMatch(/allow|whenStoreFails|storeFailed/);
    }
    const answers = [
      await client.rateLimit.check.query({ name: "open" }),
      await client.rateLimit.limit.mutate({ name: "open" }),
    ];
    for (const answer of answers) {
      expect(answer).toEqual({ ok: true, value: 0, ts: expect.any(Number) as number });
    }
  });

  it("has no header fields then, because the tokens left are not known", async () => {
    const allow = { open: { ...few, whenStoreFails: "allow" } } as const;
    const { limiter, t, rl } = await startApp(allow, false);
    const passed = await limiter.limit("open");
    expect(rateLimitHeaders(passed, { limiter, name: "open" })).toEqual({});
    const metas: unknown[] = [];
    const noting = t.procedure.use(async ({ next, getRawInput }) => {
      const result = await next();
      metas.push(rateLimitResponseMeta({ info: { calls: [{ getRawInput }] }, errors: [] }));
      return result;
    });
    const router = t.router({ open: noting.use(rl.rateLimited("open")).mutation(() => 1) });
    await router.createCaller({}).open();
    expect(metas).toEqual([{}]);
  });

  it("keeps its policy out of the responses that deny a call", async () => {
    const { limiter } = createLimitedTRPC({ open: { ...few, whenStoreFails: "allow" } });
    await limiter.limit("open", { count: 2 });
    const denied = await limiter.limit("open");
    const body = await rateLimitResponse(denied, { limiter, name: "open" }).text();
    expect(body).toContain('"rate":2');
    expect(body).not.toContain("whenStoreFails");
  });
});
