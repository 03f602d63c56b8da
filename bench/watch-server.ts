/** The watched application: a router behind HTTP that counts its queries of the database. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { createRateLimiter, prismaStore } from "trpc-rate-limit/server";
import { createRateLimitTRPC, SHARED_BUCKET } from "trpc-rate-limit/trpc";
import { connectPostgres, urls } from "./databases.js";
import { limits } from "./watch-limits.js";

const prisma = connectPostgres(urls.postgresql);
let queries = 0;
const counted = new Proxy(prisma, {
  get(target, property) {
    const value = Reflect.get(target, property) as unknown;
    if (property !== "$queryRaw" && property !== "$executeRaw") return value;
    return (...args: unknown[]) => {
      queries++;
      return (value as (...all: unknown[]) => unknown).apply(target, args);
    };
  },
});
const limiter = createRateLimiter({ store: prismaStore(counted), limits });
const t = initTRPC.context<{ user: string }>().create();
const rl = createRateLimitTRPC({
  t,
  limiter,
  interval: Number(process.argv[2]),
  key: ({ ctx, name }) => (name === "own" ? ctx.user : SHARED_BUCKET),
});
const server = createServer(
  createHTTPHandler({
    router: t.router({ rateLimit: rl.router }),
    createContext: ({ req }) => ({ user: String(req.headers["x-user"]) }),
  }),
);
server.listen(0, "127.0.0.1", () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on("message", () => {
  // Collect garbage first, so that only memory in use is measured.
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  process.send?.({ queries, heapUsed, cpu: process.cpuUsage() });
});
