/** A tRPC router behind `Deno.serve`. Prints its URL. */
import { initTRPC } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createRateLimiter, DAY, memoryStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/trpc";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { send: { kind: "fixed window", rate: 3, period: 1000 * DAY, start: 0 } },
});
const t = initTRPC.context<{ user: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.user });
const router = t.router({
  rateLimit: rl.router,
  send: t.procedure.use(rl.rateLimited("send")).mutation(() => "sent"),
});

Deno.serve(
  {
    hostname: "127.0.0.1",
    port: 0,
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}`),
  },
  (request) =>
    fetchRequestHandler({
      endpoint: "/trpc",
      req: request,
      router,
      createContext: () => ({ user: "one" }),
    }),
);
