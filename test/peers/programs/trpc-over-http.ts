/** A server and its client: the middleware, the router, the link, the stream and the headers. */
import type { AddressInfo, Server } from "node:net";
import { setTimeout } from "node:timers/promises";
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { EventSource } from "eventsource";
import {
  createRateLimitObserver,
  createTRPCTransport,
  isRateLimitError,
  rateLimitLink,
} from "trpc-rate-limit/client";
import { createRateLimiter, HOUR, memoryStore } from "trpc-rate-limit/server";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  rateLimitResponseMeta,
} from "trpc-rate-limit/trpc";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});
const t = initTRPC.context<{ userId: string }>().create({
  errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
});
const rl = createRateLimitTRPC({ t, limiter, key: ({ ctx }) => ctx.userId });
const appRouter = t.router({
  rateLimit: rl.router,
  send: t.procedure
    .use(rl.rateLimited("few"))
    .mutation(({ ctx }) => (ctx.userId === "ann" && ctx.rateLimit.ok ? "granted" : "")),
});
// @ts-expect-error no such limit
const wrong = () => rl.rateLimited("many");
type AppRouter = typeof appRouter;

const server = createHTTPServer({
  router: appRouter,
  createContext: () => ({ userId: "ann" }),
  responseMeta: rateLimitResponseMeta,
}) as unknown as Server;
await new Promise<void>((resolve) => server.listen(0, resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

let retryAfter = 0;
const http = httpBatchLink({
  url,
  fetch: async (input, init) => {
    const response = await fetch(input as string, init as RequestInit);
    retryAfter = Number(response.headers.get("retry-after"));
    return response;
  },
});
const events = httpSubscriptionLink({ url, EventSource: EventSource as never });
const isStream = ({ type }: { type: string }) => type === "subscription";
const client = createTRPCClient<AppRouter>({
  links: [
    rateLimitLink({ limits: { send: "few" }, whenLimited: "reject" }),
    splitLink({ condition: isStream, true: events, false: http }),
  ],
});
// It asks the server although the page knows better.
const asking = createTRPCClient<AppRouter>({ links: [http] });

const observer = createRateLimitObserver({ transport: createTRPCTransport(client, "rateLimit") });
const isShown = () => observer.status({ name: "few" }, 1)?.ok;
observer.observe({ name: "few" }, 1, () => {});
const shows = async (wanted: boolean) => {
  for (let tries = 0; isShown() !== wanted && tries < 100; tries++) await setTimeout(50);
  return isShown() === wanted;
};

const wasShown = await shows(true);
const first = await client.send.mutate();
const byServer: unknown = await asking.send.mutate().catch((error: unknown) => error);
const byLink: unknown = await client.send.mutate().catch((error: unknown) => error);
const facts = {
  wasShown,
  byServer: isRateLimitError(byServer) && byServer.data.rateLimit.name === "few",
  byLink: byLink instanceof Error && typeof wrong === "function",
  retryAfter: retryAfter > 0,
  isShown: await shows(false),
};
const isRight = Object.values(facts).every(Boolean);
console.log(`${first}, then ${isRight ? "denied" : JSON.stringify(facts)}`);
process.exit(0);
