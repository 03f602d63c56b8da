/** Renders `rendered-page.tsx` for an open browser, under a `style-src` without `'unsafe-inline'`. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { dehydrate, QueryClient } from "@tanstack/react-query";
import { initTRPC } from "@trpc/server";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { renderToString } from "react-dom/server";
import { build, type Rolldown } from "vite";
import { createRateLimiter, HOUR, memoryStore, SECOND } from "../../server/index.js";
import {
  createRateLimitTRPC,
  formatRateLimitError,
  SHARED_BUCKET,
} from "../../server/trpc/index.js";
import { RenderedPage } from "./rendered-page.js";

const fileOf = (name: string) => fileURLToPath(new URL(name, import.meta.url));

function createApp() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: {
      half: { kind: "token bucket", rate: 4, period: HOUR },
      daily: { kind: "token bucket", rate: 1, period: 30 * HOUR },
      few: { kind: "token bucket", rate: 1, period: 2 * SECOND, capacity: 2 },
    },
  });
  const t = initTRPC.create({
    errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),
  });
  const rl = createRateLimitTRPC({ t, limiter, key: () => SHARED_BUCKET });
  const send = t.procedure.use(rl.rateLimited("few")).mutation(() => "sent");
  return { limiter, router: t.router({ rateLimit: rl.router, send }) };
}

export type RenderedRouter = ReturnType<typeof createApp>["router"];

async function bundlePage(): Promise<string> {
  const built = (await build({
    configFile: false,
    // Vite warns of each "use client".
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"development"' },
    build: { lib: { entry: fileOf("rendered-page.tsx"), formats: ["es"] }, write: false },
  })) as Rolldown.RolldownOutput[];
  return built[0]!.output[0].code;
}

/**
 * The limit `half` has half of its tokens, and `daily` has none for 30 hours. The address says how the
 * page is: `?still` has no script, so that the page stays as the server has rendered it, `?plain` has no
 * stylesheet, `?dark` sets its `color-scheme`, `?rtl` its direction, `?german` its language, and `?bare`
 * has the texts that do not survive a translation.
 */
export async function startRenderedServer() {
  const { limiter, router } = createApp();
  await limiter.limit("half", { count: 2 });
  await limiter.limit("daily");
  const files: Record<string, [type: string, text: string]> = {
    "/page.js": ["text/javascript", await bundlePage()],
    "/styles.css": ["text/css", await readFile(fileOf("../../client/react/styles.css"), "utf8")],
    "/page.css": [
      "text/css",
      "body { width: 400px; font: 16px sans-serif } html.dark { color-scheme: dark }",
    ],
  };

  async function render(query: URLSearchParams): Promise<string> {
    const queryClient = new QueryClient();
    const caller = router.createCaller({});
    for (const name of ["half", "few", "daily"] as const) {
      const key = [["rateLimit", "status"], { input: { name }, type: "query" }];
      queryClient.setQueryData(key, await caller.rateLimit.status({ name }));
    }
    const html = renderToString(
      <RenderedPage
        queryClient={queryClient}
        isBare={query.has("bare")}
        isGerman={query.has("german")}
      />,
    );
    const state = JSON.stringify(dehydrate(queryClient)).replaceAll("<", "\\u003c");
    queryClient.clear();
    return `<!doctype html>
<html lang="en" dir="${query.has("rtl") ? "rtl" : "ltr"}" class="${query.has("dark") ? "dark" : ""}">
<title>A page</title><link rel="icon" href="/favicon.ico"><link rel="stylesheet" href="/page.css">
${query.has("plain") ? "" : '<link rel="stylesheet" href="/styles.css">'}
<main><h1>A page</h1><div id="root">${html}</div></main><script id="state" type="application/json">${state}</script>
${query.has("still") ? "" : '<script type="module" src="/page.js"></script>'}`;
  }

  const answerCall = createHTTPHandler({ router, basePath: "/trpc/" });
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    if (pathname.startsWith("/trpc/")) return answerCall(request, response);
    const file = files[pathname];
    if (file) return void response.setHeader("content-type", file[0]).end(file[1]);
    if (pathname !== "/") return void response.writeHead(204).end();
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.setHeader(
      "content-security-policy",
      "default-src 'self'; script-src 'self'; style-src 'self'",
    );
    void render(searchParams).then((html) => response.end(html));
  });
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    limiter,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
