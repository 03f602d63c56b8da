/**
 * The same small application on hosts without tRPC. Each host has these routes:
 *
 * - `POST /send`: charges `send` with `throws: true`, and answers the thrown error.
 * - `POST /asked`: charges `send`, and answers the result.
 * - `POST /broken`: throws an error of the application.
 */
import { createServer } from "node:http";
import express, { type ErrorRequestHandler } from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import {
  rateLimitHeaders,
  type RateLimiter,
  rateLimitResponse,
  type TokenBucketConfig,
} from "../../server/index.js";
import { type Host, listen, serveFetch } from "./serve-fetch.js";

type Limiter = RateLimiter<{ send: TokenBucketConfig }>;

const key = "ada";
const sent = { sent: true };

function fail(): never {
  throw new Error("a bug");
}

export const httpHosts: Record<string, (limiter: Limiter) => Promise<Host>> = {
  async express(limiter) {
    const app = express();
    app.post("/send", async (_req, res) => {
      const result = await limiter.limit("send", { key, throws: true });
      res.set(rateLimitHeaders(result, { limiter, name: "send", key })).json(sent);
    });
    app.post("/asked", async (_req, res) => {
      const result = await limiter.limit("send", { key });
      res.set(rateLimitHeaders(result, { limiter, name: "send", key }));
      if (result.ok) res.json(sent);
      else res.status(429).json({ retryAfter: result.retryAfter });
    });
    app.post("/broken", fail);
    const answer: ErrorRequestHandler = async (error, _req, res, _next) => {
      const response = rateLimitResponse(error);
      res.status(response.status).set(Object.fromEntries(response.headers));
      res.send(await response.text());
    };
    const answerOthers: ErrorRequestHandler = (_error, _req, res, _next) =>
      void res.sendStatus(500);
    app.use(answer, answerOthers);
    return listen(createServer(app));
  },

  async fastify(limiter) {
    const app = fastify();
    app.post("/send", async (_request, reply) => {
      const result = await limiter.limit("send", { key, throws: true });
      return reply.headers(rateLimitHeaders(result, { limiter, name: "send", key })).send(sent);
    });
    app.post("/asked", async (_request, reply) => {
      const result = await limiter.limit("send", { key });
      if (!result.ok) return reply.send(rateLimitResponse(result, { limiter, name: "send", key }));
      return sent;
    });
    app.post("/broken", fail);
    app.setErrorHandler((error, _request, reply) => reply.send(rateLimitResponse(error)));
    const url = await app.listen({ host: "127.0.0.1", port: 0 });
    return {
      url,
      async [Symbol.asyncDispose]() {
        app.server.closeAllConnections();
        await app.close();
      },
    };
  },

  async hono(limiter) {
    const app = new Hono();
    app.post("/send", async (c) => {
      const result = await limiter.limit("send", { key, throws: true });
      return c.json(sent, 200, rateLimitHeaders(result, { limiter, name: "send", key }));
    });
    app.post("/asked", async (c) => {
      const result = await limiter.limit("send", { key });
      return result.ok ? c.json(sent) : rateLimitResponse(result, { limiter, name: "send", key });
    });
    app.post("/broken", fail);
    app.onError((error) =>
      error instanceof HTTPException ? error.getResponse() : rateLimitResponse(error),
    );
    return serveFetch(app.fetch);
  },

  async "a route handler"(limiter) {
    const routes: Record<string, () => Promise<Response>> = {
      async "/send"() {
        try {
          const result = await limiter.limit("send", { key, throws: true });
          const headers = rateLimitHeaders(result, { limiter, name: "send", key });
          return Response.json(sent, { headers });
        } catch (error) {
          return rateLimitResponse(error);
        }
      },
      async "/asked"() {
        const result = await limiter.limit("send", { key });
        return result.ok
          ? Response.json(sent)
          : rateLimitResponse(result, { limiter, name: "send", key });
      },
      async "/broken"() {
        try {
          return fail();
        } catch (error) {
          return rateLimitResponse(error);
        }
      },
    };
    return serveFetch((request) => routes[new URL(request.url).pathname]!());
  },
};
