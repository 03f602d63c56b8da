/** An application without tRPC: one limit for each visitor, and one route. See `without-trpc.test.ts`. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build, type Rolldown } from "vite";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  rateLimitResponse,
  SECOND,
  toNodeHandler,
} from "../../server/index.js";
import { renderFetchPage } from "./fetch-page.server.js";

const visitorOf = (cookie: string | null | undefined) =>
  /visitor=(\w+)/.exec(cookie ?? "")?.[1] ?? null;

/** Each visitor has three messages at once, and one more each three seconds. */
const createLimiter = () =>
  createRateLimiter({
    store: memoryStore(),
    limits: {
      sendMessage: { kind: "token bucket", rate: 1, period: 3 * SECOND, capacity: 3 },
      vote: { kind: "fixed window", rate: 2, period: 6 * SECOND },
    },
  });
export type FetchLimiter = ReturnType<typeof createLimiter>;

async function bundlePage(): Promise<string> {
  const built = (await build({
    configFile: false,
    // Vite warns of each "use client".
    logLevel: "error",
    define: { "process.env.NODE_ENV": '"development"' },
    build: {
      lib: { entry: fileURLToPath(new URL("fetch-page.tsx", import.meta.url)), formats: ["es"] },
      write: false,
    },
  })) as Rolldown.RolldownOutput[];
  return built[0]!.output[0].code;
}

export async function startFetchApp() {
  const limiter = createLimiter();
  const script = await bundlePage();
  const handler = createRateLimitHandler({
    limiter,
    key: ({ request }) => visitorOf(request.headers.get("cookie")),
  });
  const answerLimits = toNodeHandler(handler);
  /** The answers to the route, in order. */
  const answers: { visitor: string; status: number }[] = [];
  const streams = new Set<ServerResponse>();

  async function answerRoute(
    name: "sendMessage" | "vote",
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const visitor = visitorOf(request.headers.cookie) ?? "none";
    try {
      await limiter.limit(name, { key: visitor, throws: true });
      answers.push({ visitor, status: 200 });
      response.setHeader("content-type", "application/json").end('{"sent":true}');
    } catch (error) {
      const denial = rateLimitResponse(error);
      answers.push({ visitor, status: denial.status });
      response.writeHead(denial.status, Object.fromEntries(denial.headers));
      response.end(await denial.text());
    }
  }

  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url!, "http://localhost");
    if (pathname.endsWith("/limits")) {
      if (searchParams.get("action") === "watch") {
        streams.add(response);
        response.once("close", () => streams.delete(response));
        // A proxy that holds an answer back until it is whole.
        if (pathname.startsWith("/buffered")) response.write = () => true;
      }
      return answerLimits(request, response);
    }
    if (pathname === "/api/messages") return void answerRoute("sendMessage", request, response);
    if (pathname === "/api/votes") return void answerRoute("vote", request, response);
    if (pathname === "/page.js") {
      return void response.setHeader("content-type", "text/javascript").end(script);
    }
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<!doctype html><html lang="en"><title>A page</title><link rel="icon" href="data:,">
<main><h1>A page</h1><div id="root">${renderFetchPage(searchParams)}</div></main>
<script type="module" src="/page.js"></script></html>`);
  });
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, "localhost", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return {
    url: `http://localhost:${port}`,
    limiter,
    answers,
    streams,
    stop,
    /** Listens at the same address again. */
    start: () => listen(port),
    [Symbol.asyncDispose]: stop,
  };
}
