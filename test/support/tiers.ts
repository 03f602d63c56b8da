/**
 * A server whose users are on plans. A header names the user. A request without the header, such as a
 * stream, is Ada's.
 */
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { createRateLimiter, HOUR, memoryStore, type RateLimitStore } from "../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  type PlanForCaller,
  rateLimitResponseMeta,
} from "../../server/trpc/index.js";
import { startServer } from "./http.js";

/** The limits of the plans for `send` and `upload`. */
export const FREE = { kind: "token bucket", rate: 3, period: HOUR } as const;
export const PAID = { kind: "token bucket", rate: 30, period: HOUR } as const;

const hourly = { kind: "token bucket", period: HOUR } as const;

export const TIERS = {
  plans: ["free", "paid"],
  limits: {
    send: { ...hourly, plans: { free: 3, paid: 30 } },
    upload: { ...hourly, plans: { free: 3, paid: 30 } },
    spread: { ...hourly, shards: 10, plans: { free: 20, paid: 30 } },
    video: { ...hourly, plans: { free: "none", paid: "unlimited" } },
    all: { ...hourly, rate: 100 },
  },
} as const;

export type Tier = (typeof TIERS.plans)[number];
export type TierName = "send" | "upload" | "spread" | "video";
export type TierResolver = PlanForCaller<TierContext, TierName, Tier>;

export interface TierContext {
  user: string;
  plan: Tier;
}

/** The plan in the context. For a stream, that is the plan at its start. */
export const byContext: TierResolver = ({ ctx }) => ctx.plan;

export interface TierServerOptions {
  /** `"limiter"`: the limiter's own function resolves the plan, by the user. @default byContext */
  plan?: TierResolver | "limiter";
  /** ms between two resolutions of a stream's keys and plans. @default 60000 */
  keyInterval?: number;
  /** @default memoryStore() */
  store?: RateLimitStore;
}

export async function startTierServer({
  plan = byContext,
  keyInterval,
  store = memoryStore(),
}: TierServerOptions = {}) {
  /** The plans by user. A user without an entry is on the free plan. */
  const plans = new Map<string | undefined, Tier>();
  const planOf = (user: string | undefined) => plans.get(user) ?? "free";
  const limiter = createRateLimiter({
    store,
    ...TIERS,
    ...(plan === "limiter" && { plan: async ({ key }) => planOf(key) }),
  });
  const t = initTRPC.context<TierContext>().create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx, requested }) => requested ?? ctx.user,
    ...(plan !== "limiter" && { plan }),
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
    sendToAll: t.procedure
      .use(rl.rateLimited(["send", "all"]))
      .mutation(({ ctx }) => ctx.rateLimit.results.map(({ value }) => value)),
    sendByOwn: t.procedure
      .use(
        rl.rateLimited("send", {
          config: ({ ctx }) => (ctx.user === "tester" ? { ...FREE, rate: 7 } : undefined),
        }),
      )
      .mutation(({ ctx }) => ctx.rateLimit.value),
    watchVideo: t.procedure.use(rl.rateLimited("video")).mutation(() => "watched"),
  });
  const server = await startServer(
    router,
    ({ req }) => {
      const name = String(req.headers["x-user"] ?? "ada");
      return { user: name, plan: planOf(name) };
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
