/** A small application with limits on SQLite behind a real server. A header names the user. */
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { initTRPC, TRPCError } from "@trpc/server";
import { z } from "zod";
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../server/index.js";
import { createRateLimitTRPC, formatRateLimitError } from "../../server/trpc/index.js";
import { createSqlite } from "./database.js";
import { startServer } from "./http.js";

interface Context {
  user: string;
}

export async function startApp() {
  const database = await createSqlite();
  const { prisma } = database;
  const clock = createManualClock();
  const limiter = createRateLimiter({
    store: prismaStore(prisma),
    clock,
    limits: {
      sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
      teamQuota: { kind: "fixed window", rate: 5, period: MINUTE },
    },
  });
  const t = initTRPC.context<Context>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    interval: 100,
    key: ({ ctx, name, requested }) => {
      if (name !== "teamQuota") return ctx.user;
      // Users may read the quota of their own team only.
      return requested === `team of ${ctx.user}` ? requested : null;
    },
    authorize: ({ ctx, action }) => ctx.user === "admin" && action === "reset",
  });
  const text = z.object({ text: z.string().min(1).max(100) });
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure
      .input(text)
      .use(rl.rateLimited("sendMessage"))
      .mutation(({ ctx, input }) => ({ remaining: ctx.rateLimit.value, text: input.text })),
    sendAll: t.procedure
      .input(z.array(z.string()))
      .use(rl.rateLimited("sendMessage", { count: ({ input }) => input.length }))
      .mutation(({ input }) => input.length),
    sendFor: t.procedure
      .input(z.string())
      .use(rl.rateLimited("sendMessage", { key: ({ input }) => input }))
      .mutation(() => true),
    throwing: t.procedure.mutation(({ ctx }) =>
      limiter.limit("sendMessage", { key: ctx.user, count: 3, throws: true }),
    ),
    broken: t.procedure.mutation(() => {
      throw new TRPCError({ code: "CONFLICT", message: "not about limits" });
    }),
  });
  const server = await startServer(
    router,
    ({ req }) => ({ user: String(req.headers["x-user"] ?? "") }),
    // No limit, so that hostile requests reach the application.
    { maxUrl: Infinity },
  );

  return {
    prisma,
    clock,
    limiter,
    router,
    server,
    /** A client of this user, without streams. */
    as: (user: string) =>
      createTRPCClient<typeof router>({
        links: [httpBatchLink({ url: server.url, headers: { "x-user": user } })],
      }),
    rows: () => prisma.rateLimit.findMany({ orderBy: [{ name: "asc" }, { key: "asc" }] }),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
