/** One server for each tRPC adapter, each on its own port. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { AnyTRPCRouter } from "@trpc/server";
import { createExpressMiddleware } from "@trpc/server/adapters/express";
import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import express from "express";
import fastify from "fastify";
import { rateLimitResponseMeta } from "../../server/index.js";

export interface Host {
  /** The base URL of the procedures. */
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

const responseMeta = rateLimitResponseMeta;

export const hosts: Record<string, (router: AnyTRPCRouter) => Promise<Host>> = {
  standalone: (router) => listen(createServer(createHTTPHandler({ router, responseMeta }))),

  express(router) {
    const app = express().use("/trpc", createExpressMiddleware({ router, responseMeta }));
    return listen(createServer(app), "/trpc");
  },

  async fastify(router) {
    const app = fastify({ routerOptions: { maxParamLength: 5000 } });
    await app.register(fastifyTRPCPlugin, {
      prefix: "/trpc",
      trpcOptions: { router, responseMeta },
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return {
      url: `${url}/trpc`,
      async [Symbol.asyncDispose]() {
        app.server.closeAllConnections();
        await app.close();
      },
    };
  },

  /** The adapter for Next.js route handlers and edge functions, behind a Node server. */
  fetch: (router) =>
    listen(
      createServer((req, res) => {
        const aborted = new AbortController();
        res.once("close", () => aborted.abort());
        const hasBody = req.method !== "GET" && req.method !== "HEAD";
        const request = new Request(`http://localhost${req.url}`, {
          method: req.method!,
          headers: Object.entries(req.headers).map(([name, value]) => [name, String(value)]),
          signal: aborted.signal,
          ...(hasBody && { body: Readable.toWeb(req) as ReadableStream, duplex: "half" }),
        });
        const options = { endpoint: "/trpc", req: request, router, responseMeta };
        void fetchRequestHandler(options).then((response) => {
          res.writeHead(response.status, Object.fromEntries(response.headers));
          if (response.body === null) res.end();
          else
            Readable.fromWeb(response.body as never)
              .on("error", () => {})
              .pipe(res);
        });
      }),
      "/trpc",
    ),
};

async function listen(server: Server, path = ""): Promise<Host> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
