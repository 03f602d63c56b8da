/** A server whose users are on plans. A header names the user. Streams send none: they are Ada's. */
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { createRateLimiter, HOUR, memoryStore, type RateLimitStore } from "../../server/index.js";
import {
  type ConfigResolver,
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "../../server/trpc/index.js";
import { startServer } from "./http.js";

export const FREE = { kind: "token bucket", rate: 3, period: HOUR } as const;
export const PAID = { kind: "token bucket", rate: 30, period: HOUR } as const;

export interface TierContext {
  user: string;
  plan: string;
}

export type TierName = "send" | "upload";
export type TierResolver = ConfigResolver<TierContext, TierName>;

/** The plan that the context has, which for a stream is that of its start. */
export const byContext: TierResolver = ({ ctx }) => (ctx.plan === "paid" ? { ...PAID } : undefined);

export interface TierServerOptions {
  /** @default byContext */
  config?: TierResolver;
  /** ms between two resolutions of a stream's keys and configs. @default 60000 */
  keyInterval?: number;
  /** @default memoryStore() */
  store?: RateLimitStore;
}

export async function startTierServer({
  config = byContext,
  keyInterval,
  store = memoryStore(),
}: TierServerOptions = {}) {
  /** By user. Users without an entry are on the free plan. */
  const plans = new Map<string, string>();
  const limiter = createRateLimiter({ store, limits: { send: FREE, upload: FREE } });
  const t = initTRPC.context<TierContext>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx, requested }) => requested ?? ctx.user,
    config,
    interval: 100,
    ...(keyInterval !== undefined && { keyInterval }),
    authorize: () => true,
  });
  const router = t.router({
    rateLimit: rl.router,
    send: t.procedure.use(rl.rateLimited("send")).mutation(({ ctx }) => ctx.rateLimit.value),
    sendInTransaction: t.procedure
      .use(rl.rateLimited.transaction("send"))
      .mutation(({ ctx }) => ctx.rateLimit.value),
    sendBoth: t.procedure
      .use(rl.rateLimited(["send", "upload"]))
      .mutation(({ ctx }) => ctx.rateLimit.results.map(({ value }) => value)),
    sendByOwn: t.procedure
      .use(
        rl.rateLimited("send", {
          config: ({ ctx }) => (ctx.user === "tester" ? { ...FREE, rate: 7 } : undefined),
        }),
      )
      .mutation(({ ctx }) => ctx.rateLimit.value),
  });
  const server = await startServer(
    router,
    ({ req }) => {
      const name = String(req.headers["x-user"] ?? "ada");
      return { user: name, plan: plans.get(name) ?? "free" };
    },
    { responseMeta: rateLimitResponseMeta },
  );
  return {
    limiter,
    plans,
    router,
    server,
    /** A client of this user, without streams. */
    as: (name: string) =>
      createTRPCClient<typeof router>({
        links: [httpBatchLink({ url: server.url, headers: { "x-user": name } })],
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
