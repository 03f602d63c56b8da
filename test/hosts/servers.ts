/** Servers that need packages of their own, each with the handler of limits at `/api/limits`. */
import "reflect-metadata";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { node } from "@elysiajs/node";
import { All, Controller, type INestApplication, Req, Res } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { FastifyAdapter } from "@nestjs/platform-fastify";
import compression from "compression";
import { Elysia } from "elysia";
import type { Request as ExpressRequest, Response as ExpressResponse } from "express";
import { createRequire } from "node:module";
import express from "express";
import type { FastifyReply, FastifyRequest } from "fastify";
import { Hono } from "hono";
import { type RateLimitHandler, toNodeHandler } from "../../server/index.js";
import { freePort } from "../support/free-port.js";
import { type Host, listen } from "../support/serve-fetch.js";

type Handler = RateLimitHandler<unknown>;
type Start = (handler: Handler) => Promise<Host>;

const PATH = "/api/limits";
// Its types are those of Express 5, as far as they are used here.
const express4 = createRequire(import.meta.url)("express-4") as typeof express;

/** A module's metadata may stand beside it. */
class AppModule {
  readonly name = "limits";
}

/** What serves Elysia on Node.js. */
interface ServerOfSrvx {
  close(closeAllConnections: boolean): Promise<void>;
}

const OF_NEST = { logger: false, forceCloseConnections: true } as const;

async function serveNest(app: INestApplication): Promise<Host> {
  await app.listen(0, "127.0.0.1");
  const url = await app.getUrl();
  return { url: url + PATH, [Symbol.asyncDispose]: () => app.close() };
}

export const servers: Record<string, Start> = {
  "Express 4": (handler) =>
    listen(createServer(express4().all(PATH, toNodeHandler(handler))), PATH),

  "Express 4 with express.json()": (handler) =>
    listen(createServer(express4().use(express4.json()).all(PATH, toNodeHandler(handler))), PATH),

  "Express 5 with compression": (handler) =>
    listen(
      createServer(
        express()
          .use(compression({ threshold: 0 }), express.json())
          .all(PATH, toNodeHandler(handler)),
      ),
      PATH,
    ),

  async NestJS(handler) {
    const answer = toNodeHandler(handler);

    @Controller("api")
    class LimitsController {
      @All("limits")
      limits(@Req() req: ExpressRequest, @Res() res: ExpressResponse): void {
        answer(req, res);
      }
    }
    const module = { module: AppModule, controllers: [LimitsController] };
    return serveNest(await NestFactory.create(module, OF_NEST));
  },

  async "NestJS, as middleware"(handler) {
    const app = await NestFactory.create(AppModule, OF_NEST);
    app.use(PATH, toNodeHandler(handler));
    return serveNest(app);
  },

  async "NestJS on Fastify"(handler) {
    const answer = toNodeHandler(handler);

    @Controller("api")
    class LimitsController {
      @All("limits")
      limits(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
        reply.hijack();
        answer(request, reply.raw);
      }
    }
    const module = { module: AppModule, controllers: [LimitsController] };
    return serveNest(await NestFactory.create(module, new FastifyAdapter(), OF_NEST));
  },

  async "Hono on Node.js"(handler) {
    const app = new Hono().all(PATH, (c) => handler(c.req.raw));
    const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    return {
      url: `http://127.0.0.1:${port}${PATH}`,
      async [Symbol.asyncDispose]() {
        (server as Server).closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  },

  async "Elysia on Node.js"(handler) {
    const port = await freePort();
    const app = new Elysia({ adapter: node() }).all(PATH, ({ request }) => handler(request));
    // The adapter sets no `app.server`, and tells its server to the callback alone.
    const running = await new Promise<{ raw: ServerOfSrvx }>((resolve) => {
      app.listen({ hostname: "127.0.0.1", port }, (server) => resolve(server as never));
    });
    return {
      url: `http://127.0.0.1:${port}${PATH}`,
      async [Symbol.asyncDispose]() {
        await running.raw.close(true);
      },
    };
  },
};
