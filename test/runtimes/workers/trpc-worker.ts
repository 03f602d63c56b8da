/** A worker with a tRPC router, whose limits are in D1. */
import { env } from "cloudflare:workers";
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createRateLimiter, DAY, d1Store } from "../../../server/index.js";
import { createRateLimitTRPC, formatRateLimitError } from "../../../server/trpc/index.js";

const limiter = createRateLimiter({
  store: d1Store(env.DB),
  limits: { send: { kind: "fixed window", rate: 37, period: 1000 * DAY, start: 0 } },
});
const t = initTRPC.context<{ user: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.user, interval: 200 });
const router = t.router({
  rateLimit: rl.router,
  send: t.procedure.use(rl.rateLimited("send")).mutation(() => "sent"),
});

export type WorkerRouter = typeof router;

export default {
  fetch: (request: Request): Promise<Response> =>
    fetchRequestHandler({
      endpoint: "/trpc",
      req: request,
      router,
      createContext: () => ({ user: request.headers.get("user") ?? "nobody" }),
    }),
};
