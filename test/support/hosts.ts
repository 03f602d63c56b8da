/** One server for each tRPC adapter, each on its own port. */
import { createServer } from "node:http";
import type { AnyTRPCRouter } from "@trpc/server";
import { createExpressMiddleware } from "@trpc/server/adapters/express";
import { fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import express from "express";
import fastify from "fastify";
import { rateLimitResponseMeta } from "../../server/trpc/index.js";
import { type Host, listen, serveFetch } from "./serve-fetch.js";

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
    serveFetch(
      (req) => fetchRequestHandler({ endpoint: "/trpc", req, router, responseMeta }),
      "/trpc",
    ),
};
