import { TRPCClientError } from "@trpc/client";
import { initTRPC, TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createManualClock } from "../../../core/testing.js";
import {
  changeDigest,
  createRateLimiter,
  DAY,
  isRateLimitError,
  MINUTE,
  prismaStore,
} from "../../../server/index.js";
import { createRateLimitTRPC, formatRateLimitError } from "../../../server/trpc/index.js";
import { createSqlite, intercept } from "../../support/database.js";
import { startServer } from "../../support/http.js";

interface Context {
  user: string;
}

async function startApp() {
  const database = await createSqlite();
  const { prisma } = database;
  let queries = 0;
  let failure: Error | undefined;
  const counted = intercept(prisma, async () => {
    queries++;
    if (failure !== undefined) throw failure;
  });
  const clock = createManualClock();
  const limiter = createRateLimiter({
    // Typed as the real client, so that `ctx.tx` has the type of that client's transactions.
    store: prismaStore(counted as typeof prisma),
    clock,
    limits: {
      perMinute: { kind: "token bucket", rate: 3, period: MINUTE },
      perDay: { kind: "fixed window", rate: 5, period: DAY, start: 0 },
      logIn: { kind: "token bucket", rate: 3, period: MINUTE },
      tokens: { kind: "token bucket", rate: 60, period: MINUTE, maxReserved: 60 },
    },
  });
  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.user });
  const member = t.procedure.use(({ ctx, next }) =>
    next({ ctx: { plan: ctx.user === "paying" ? ("paid" as const) : ("free" as const) } }),
  );
  const onLogIn = t.procedure.input(z.string());
  const runLogIn = ({ input }: { input: string }) => {
    if (input === "broken") throw new TRPCError({ code: "INTERNAL_SERVER_ERROR" });
    if (input !== "right") throw new TRPCError({ code: "UNAUTHORIZED" });
    return "welcome";
  };
  const tries = { count: 0 };
  const router = t.router({
    send: t.procedure
      .use(rl.rateLimited(["perMinute", "perDay"]))
      .mutation(({ ctx }) => ctx.rateLimit.results.map(({ value }) => value)),
    logIn: onLogIn.use(rl.rateLimited("logIn", { on: "error" })).mutation(runLogIn),
    logInAndReset: onLogIn
      .use(rl.rateLimited("logIn", { on: "error", resetOnSuccess: true }))
      .mutation(runLogIn),
    logInCarefully: onLogIn
      .use(rl.rateLimited("logIn", { on: ({ code }) => code === "UNAUTHORIZED" }))
      .mutation(runLogIn),
    complete: t.procedure
      .input(z.number())
      .use(rl.rateLimited("tokens", { count: ({ input }) => input, reserve: true }))
      .mutation(({ ctx }) => ctx.rateLimit),
    byPlan: member
      .use(
        rl.rateLimited("perMinute", {
          key: ({ ctx, path, type }) => `${ctx.plan} ${path} ${type}`,
          config: async ({ ctx }) =>
            ctx.plan === "paid" ? { kind: "token bucket", rate: 100, period: MINUTE } : undefined,
        }),
      )
      .query(({ ctx }) => ctx.rateLimit.value),
    // A procedure that takes in another one.
    concatenated: member
      .concat(t.procedure.use(rl.rateLimited("perMinute")))
      .query(({ ctx }) => [ctx.plan, ctx.rateLimit.value] as const),
    store: t.procedure
      .input(z.string())
      .use(rl.rateLimited.transaction("perMinute", { count: 2 }))
      .mutation(async ({ ctx, input }) => {
        tries.count++;
        const row = { name: "data", key: input, used: ctx.rateLimit.value, ts: 0 };
        await ctx.tx.rateLimit.create({ data: row });
        if (input === "broken") throw new TRPCError({ code: "CONFLICT", message: "after all" });
        if (input === "contended" && tries.count === 1) {
          throw Object.assign(new Error("write conflict"), { code: "P2034" });
        }
        return ctx.rateLimit.value;
      }),
    stream: t.procedure
      .use(rl.rateLimited.transaction("perMinute"))
      .subscription(async function* () {
        yield 1;
      }),
  });
  const server = await startServer(router, ({ req }) => ({
    user: String(req.headers["x-user"] ?? "ada"),
  }));
  return {
    router,
    clock,
    limiter,
    client: server.connect({ stream: false }),
    caller: t.createCallerFactory(router),
    tries,
    countQueries: async (work: () => Promise<unknown>) => {
      const before = queries;
      await work();
      return queries - before;
    },
    failWith: (error: Error | undefined) => (failure = error),
    left: async (name: "perMinute" | "perDay" | "logIn" | "tokens") =>
      (await limiter.getValue(name, { key: "ada" })).value,
    data: () => prisma.rateLimit.findMany({ where: { name: "data" } }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail("it passed"),
    (error: unknown) => error,
  );
const codeOf = async (promise: Promise<unknown>): Promise<unknown> => {
  const error = await failureOf(promise);
  return error instanceof TRPCClientError ? (error.data as { code: string }).code : error;
};

describe("several limits on one procedure", () => {
  it("charges all of them or none, and names the one with the longest wait", async () => {
    await using app = await startApp();
    const { client } = app;
    for (const left of [2, 1, 0]) expect(await client.send.mutate()).toEqual([left, left + 2]);
    const short = await failureOf(client.send.mutate());
    expect(isRateLimitError(short) && short.data.rateLimit).toMatchObject({
      name: "perMinute",
      retryAfter: MINUTE / 3,
    });
    expect(await app.left("perDay")).toBe(2);
    app.clock.advance(MINUTE);
    await client.send.mutate();
    await client.send.mutate();
    const long = await failureOf(client.send.mutate());
    expect(isRateLimitError(long) && long.data.rateLimit.name).toBe("perDay");
    expect(await app.left("perMinute")).toBe(1);
  });

  it("takes two statements, also for all calls of one batch", async () => {
    await using app = await startApp();
    const { client } = app;
    // The first statement of a store is the check of its table.
    await app.left("perMinute");
    expect(await app.countQueries(() => client.send.mutate())).toBe(2);
    const batch = () =>
      Promise.allSettled(Array.from({ length: 10 }, () => client.logIn.mutate("wrong")));
    // Three were charged and seven denied.
    expect(await app.countQueries(batch)).toBe(2);
    expect(await app.left("logIn")).toBe(0);
  });
});

describe("a limit on failures", () => {
  it("costs nothing without failures, and denies calls after too many failures", async () => {
    await using app = await startApp();
    const { client } = app;
    for (let i = 0; i < 10; i++) expect(await client.logIn.mutate("right")).toBe("welcome");
    expect(await app.left("logIn")).toBe(3);
    for (let i = 0; i < 3; i++) {
      expect(await codeOf(client.logIn.mutate("wrong"))).toBe("UNAUTHORIZED");
    }
    expect(await codeOf(client.logIn.mutate("right"))).toBe("TOO_MANY_REQUESTS");
    app.clock.advance(MINUTE / 3);
    expect(await client.logIn.mutate("right")).toBe("welcome");
  });

  it("grants no more concurrent guesses than consecutive ones", async () => {
    await using app = await startApp();
    const codes = await Promise.all(
      Array.from({ length: 30 }, () => codeOf(app.client.logIn.mutate("wrong"))),
    );
    expect(codes.filter((code) => code === "UNAUTHORIZED")).toHaveLength(3);
    expect(codes.filter((code) => code === "TOO_MANY_REQUESTS")).toHaveLength(27);
  });

  it("forgets the failures after a success with resetOnSuccess", async () => {
    await using app = await startApp();
    const { client } = app;
    await codeOf(client.logInAndReset.mutate("wrong"));
    await codeOf(client.logInAndReset.mutate("wrong"));
    expect(await app.left("logIn")).toBe(1);
    expect(await client.logInAndReset.mutate("right")).toBe("welcome");
    expect(await app.left("logIn")).toBe(3);
  });

  it("counts only the failures for which `on` returns true", async () => {
    await using app = await startApp();
    expect(await codeOf(app.client.logInCarefully.mutate("broken"))).toBe("INTERNAL_SERVER_ERROR");
    expect(await app.left("logIn")).toBe(3);
    expect(await codeOf(app.client.logInCarefully.mutate("wrong"))).toBe("UNAUTHORIZED");
    expect(await app.left("logIn")).toBe(2);
  });

  it("rejects the call when the store fails, before the procedure runs", async () => {
    await using app = await startApp();
    app.failWith(new Error("secret host name"));
    const error = await failureOf(app.client.logIn.mutate("right"));
    expect(error).toMatchObject({
      message: "Rate limits cannot be checked right now",
      data: { code: "SERVICE_UNAVAILABLE", httpStatus: 503 },
    });
    expect(JSON.stringify(error)).not.toContain("secret");
  });
});

describe("options that depend on the call", () => {
  it("can reserve, and the procedure sees when to do the work", async () => {
    await using app = await startApp();
    expect(await app.client.complete.mutate(60)).toMatchObject({ ok: true, value: 0 });
    expect(await app.client.complete.mutate(30)).toMatchObject({
      ok: true,
      retryAfter: 30_000,
      value: -30,
    });
    expect(await codeOf(app.client.complete.mutate(61))).toBe("TOO_MANY_REQUESTS");
    expect(await codeOf(app.client.complete.mutate(121))).toBe("PAYLOAD_TOO_LARGE");
    expect(await app.left("tokens")).toBe(-30);
  });

  it("receive the context of earlier middleware, and can choose a config by it", async () => {
    await using app = await startApp();
    const { caller } = app;
    expect(await caller({ user: "paying" }).byPlan()).toBe(99);
    expect(await caller({ user: "visitor" }).byPlan()).toBe(2);
    expect((await app.limiter.getValue("perMinute", { key: "free byPlan query" })).value).toBe(2);
  });

  it("work in a procedure that is taken in with concat", async () => {
    await using app = await startApp();
    expect(await app.client.concatenated.query()).toEqual(["free", 2]);
  });
});

describe("a procedure in a transaction", () => {
  it("commits data and tokens together", async () => {
    await using app = await startApp();
    expect(await app.client.store.mutate("fine")).toBe(1);
    expect(await app.data()).toHaveLength(1);
    expect(await codeOf(app.client.store.mutate("denied"))).toBe("TOO_MANY_REQUESTS");
    expect(await app.data()).toHaveLength(1);
  });

  it("rolls both back when the procedure throws, and the client receives its error", async () => {
    await using app = await startApp();
    const error = await failureOf(app.client.store.mutate("broken"));
    expect(error).toMatchObject({ message: "after all", data: { code: "CONFLICT" } });
    expect(await app.data()).toEqual([]);
    expect(await app.left("perMinute")).toBe(3);
  });

  it("runs again after a conflict", async () => {
    await using app = await startApp();
    expect(await app.client.store.mutate("contended")).toBe(1);
    expect(app.tries.count).toBe(2);
    expect(await app.data()).toHaveLength(1);
  });

  it("notifies listeners after the commit, and not of changes that were rolled back", async () => {
    await using app = await startApp();
    const changes: string[] = [];
    app.limiter.onChange((digest) => void changes.push(digest));
    await codeOf(app.client.store.mutate("broken"));
    expect(changes).toEqual([]);
    await app.client.store.mutate("contended");
    expect(changes).toEqual([changeDigest("perMinute", "ada")]);
  });

  it("rejects subscriptions, which would outlive it", async () => {
    await using app = await startApp();
    await expect(app.caller({ user: "ada" }).stream()).rejects.toMatchObject({
      code: "METHOD_NOT_SUPPORTED",
    });
    expect(await app.left("perMinute")).toBe(3);
  });
});
