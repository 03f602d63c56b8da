/** `createRateLimitHandler` in the hosts that people have, over HTTP. */
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { pipeline } from "node:stream";
import { fileURLToPath } from "node:url";
import express from "express";
import fastify from "fastify";
import { describe, it } from "vitest";
import * as server from "../../server/index.js";
import { type RateLimitHandler, toNodeHandler } from "../../server/index.js";
import { createHandlerApp } from "../support/handler-app.js";
import { itServesLimits } from "../support/handler-suite.js";
import { type Host, listen, serveFetch } from "../support/serve-fetch.js";

type Start = (handler: RateLimitHandler<unknown>) => Promise<Host>;

const PATH = "/api/limits";
const FOLDER = fileURLToPath(new URL("../hosts/", import.meta.url));
const isInstalled = existsSync(`${FOLDER}node_modules/elysia`);
const more = (
  isInstalled ? await import(/* @vite-ignore */ `${FOLDER}servers.ts`) : { servers: {} }
) as { servers: Record<string, Start> };

type NextRoute = (request: Request, context: { params: Promise<object> }) => Promise<Response>;

/** Frameworks answer a method that a route does not export with 405. */
const serveRoutes = (route: (request: Request) => Promise<Response> | undefined) =>
  serveFetch(
    (request) => route(request) ?? new Response(null, { status: 405 }),
    PATH,
    (body, res) => pipeline(body, res, () => {}),
  );

const hosts: Record<string, Start> = {
  "node:http": (handler) => listen(createServer(toNodeHandler(handler))),

  "Express 5": (handler) => listen(createServer(express().all(PATH, toNodeHandler(handler))), PATH),

  "Express 5 with express.json()": (handler) =>
    listen(createServer(express().use(express.json()).all(PATH, toNodeHandler(handler))), PATH),

  async Fastify(handler) {
    const answer = toNodeHandler(handler);
    const app = fastify();
    app.all(PATH, (request, reply) => {
      reply.hijack();
      answer(request, reply.raw);
    });
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return {
      url: url + PATH,
      async [Symbol.asyncDispose]() {
        app.server.closeAllConnections();
        await app.close();
      },
    };
  },

  /** The exports of a route of Next.js, called as Next.js calls them. */
  "a route of Next.js": (handler) => {
    const route: Record<string, NextRoute> = {
      GET: handler as NextRoute,
      POST: handler as NextRoute,
    };
    return serveRoutes((request) =>
      route[request.method]?.(request, { params: Promise.resolve({}) }),
    );
  },

  "a server route of TanStack Start": (handler) => {
    const ANY = ({ request }: { request: Request }) => handler(request);
    return serveRoutes((request) => ANY({ request }));
  },

  "+server.ts of SvelteKit": (handler) => {
    const GET = ({ request }: { request: Request }) => handler(request);
    const endpoints: Record<string, typeof GET> = { GET, POST: GET };
    return serveRoutes((request) => endpoints[request.method]?.({ request }));
  },

  ...more.servers,
};

describe.each(Object.entries(hosts))("%s", (_name, start) => {
  itServesLimits(() => start(createHandlerApp(server)));
});

if (!isInstalled) {
  it("serves limits in NestJS, Elysia and others", ({ skip }) =>
    skip("needs npm run install:test-projects"));
}
