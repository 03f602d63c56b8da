/** A control room over a store with 10,000 customers, all of them limited. See `operator.test.ts`. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { build, type Rolldown } from "vite";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../server/index.js";
import { createRateLimitTRPC } from "../../server/trpc/index.js";

const CUSTOMERS = 10_000;
/** Customer 7 calls most of all, and customer 8 takes the most tokens. */
export const LOUDEST = "customer 7";

function createApp(store: RateLimitStore) {
  const limiter = createRateLimiter({
    store,
    overrides: true,
    // What this is about are questions, not a machine that is too busy to answer in two seconds.
    timeout: 30_000,
    limits: {
      apiCalls: { kind: "token bucket", rate: 10, period: HOUR, usage: true },
      exports: { kind: "fixed window", rate: 3, period: 24 * HOUR },
    },
  });
  const t = initTRPC.context<{ customer: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter,
    key: ({ ctx }) => ctx.customer,
    admin: { authorize: () => true, actor: () => "ann" },
  });
  return { limiter, router: t.router({ rateLimit: rl.router, rateLimitAdmin: rl.admin }) };
}

export type OperatorRouter = ReturnType<typeof createApp>["router"];

/** The files of the page, by name: the page loads some of its parts later. */
async function bundlePage(): Promise<Map<string, string>> {
  const built = (await build({
    configFile: false,
    // Vite warns of each "use client".
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"development"' },
    build: {
      lib: {
        entry: fileURLToPath(new URL("operator-page.tsx", import.meta.url)),
        formats: ["es"],
        fileName: () => "page.js",
      },
      write: false,
    },
  })) as Rolldown.RolldownOutput[];
  const chunks = built[0]!.output.filter((file) => file.type === "chunk");
  return new Map(chunks.map(({ fileName, code }) => [`/${fileName}`, code]));
}

const STYLES = fileURLToPath(new URL("../../client/admin/admin.css", import.meta.url));

export async function startOperatorApp(store: RateLimitStore) {
  const { limiter, router } = createApp(store);
  const files = await bundlePage();
  const styles = await readFile(STYLES, "utf8");
  const answerCall = createHTTPHandler({
    router,
    basePath: "/trpc/",
    createContext: () => ({ customer: "Customer 3" }),
  });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://localhost");
    if (pathname.startsWith("/trpc/")) return answerCall(request, response);
    const code = files.get(pathname);
    if (code !== undefined) {
      return void response.setHeader("content-type", "text/javascript").end(code);
    }
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>Support</title><link rel="icon" href="data:,"><style>${styles}</style>
<style>body { margin: 1rem; font-family: system-ui; } :root { color-scheme: light dark; }</style>
<main><h1>Support</h1><div id="root"></div></main><script type="module" src="/page.js"></script></html>`);
  });
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    limiter,
    /** All customers have used up what they may, and are denied. */
    async limitAll() {
      const keys = Array.from({ length: CUSTOMERS }, (_, i) => `Customer ${i + 1}`);
      // As many at once as a busy machine answers before the store's timeout.
      for (let i = 0; i < CUSTOMERS; i += 100) {
        await Promise.all(
          keys.slice(i, i + 100).map(async (key) => {
            await limiter.charge("apiCalls", { key, count: 10 });
            await limiter.limit("apiCalls", { key });
          }),
        );
      }
      for (let call = 0; call < 40; call++) await limiter.limit("apiCalls", { key: LOUDEST });
      await limiter.charge("apiCalls", { key: "customer 8", count: 500 });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await limiter.flushUsage();
    },
  };
}
