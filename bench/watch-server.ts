/**
 * The watched application, which counts its queries of the database. Arguments: ms between two reads for
 * other processes' changes, `router` or `handler`, and `postgresql` or `memory`.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  prismaStore,
  type RateLimitStore,
  toNodeHandler,
} from "trpc-rate-limit/server";
import { createRateLimitTRPC, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { connectPostgres, urls } from "./databases.js";
import { limits } from "./watch-limits.js";

const prisma = connectPostgres(urls.postgresql);
let queries = 0;
const counted = new Proxy(prisma, {
  get(target, property) {
    const value = Reflect.get(target, property) as unknown;
    if (!/^\$(?:query|execute)Raw/.test(String(property))) return value;
    return (...args: unknown[]) => {
      queries++;
      return (value as (...all: unknown[]) => unknown).apply(target, args);
    };
  },
});
const [, , ms, door, database] = process.argv;
const interval = Number(ms);
const store = (database === "memory"
  ? memoryStore()
  : prismaStore(counted)) as unknown as RateLimitStore;
const limiter = createRateLimiter({ store, limits });

function router() {
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    interval,
    key: ({ ctx, name }) => (name === "own" ? ctx.user : SHARED_BUCKET),
  });
  return createHTTPHandler({
    router: t.router({ rateLimit: rl.router }),
    createContext: ({ req }) => ({ user: String(req.headers["x-user"]) }),
  });
}

function handler() {
  return toNodeHandler(
    createRateLimitHandler({
      limiter,
      interval,
      key: ({ request, name }) => (name === "own" ? request.headers.get("x-user") : SHARED_BUCKET),
    }),
  );
}

const server = createServer(door === "handler" ? handler() : router());
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on("message", (message) => {
  if (message === "take") {
    // In memory, no other process can take a token.
    void take();
    return;
  }
  // Collect garbage first, so that only memory in use is measured.
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  process.send?.({ queries, heapUsed, cpu: process.cpuUsage() });
});

async function take(): Promise<void> {
  const { value } = await limiter.limit("everybody");
  process.send?.({ value });
}
