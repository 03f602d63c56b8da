/** Code of the handler that must and must not compile. `tsc` checks it; it never runs. */
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import express, { type Request as ExpressRequest } from "express";
import fastify, { type FastifyRequest } from "fastify";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  MINUTE,
  SHARED_BUCKET,
  toNodeHandler,
} from "trpc-rate-limit/server";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const config = { kind: "token bucket", rate: 10, period: MINUTE } as const;
const store = memoryStore();
const limiter = createRateLimiter({ store, limits: { send: config, signUp: config } });
const planned = createRateLimiter({
  store,
  plans: ["free", "pro"],
  limits: {
    pictures: { kind: "token bucket", period: MINUTE, plans: { free: 5, pro: 50 } },
    signUp: config,
  },
});
const byLimiter = createRateLimiter({
  store,
  plans: ["free", "pro"],
  limits: { pictures: { kind: "token bucket", period: MINUTE, plans: { free: 5, pro: 50 } } },
  plan: () => "pro",
});

const handler = createRateLimitHandler({
  limiter,
  key: ({ request, ctx, name, requested }) => {
    assert<Equal<typeof request, Request>>();
    assert<Equal<typeof ctx, undefined>>();
    assert<Equal<typeof name, "send" | "signUp">>();
    assert<Equal<typeof requested, string | undefined>>();
    return request.headers.get("x-user");
  },
  authorize: ({ action, name, key }) => {
    assert<Equal<typeof action, "limit" | "reset">>();
    assert<Equal<typeof name, "send" | "signUp">>();
    assert<Equal<typeof key, string | undefined>>();
    return true;
  },
});
assert<Equal<keyof typeof handler.limits, "send" | "signUp">>();
export const GET: (request: Request) => Promise<Response> = handler;
export const POST: (request: Request, context: { params: Promise<object> }) => Promise<Response> =
  handler;

const partly = createRateLimitHandler({ limiter, key: SHARED_BUCKET, expose: ["send"] });
assert<Equal<keyof typeof partly.limits, "send">>();
// @ts-expect-error no such limit
createRateLimitHandler({ limiter, key: SHARED_BUCKET, expose: ["sned"] });
// @ts-expect-error no key
createRateLimitHandler({ limiter });
// @ts-expect-error a user without an id
createRateLimitHandler({ limiter, key: () => undefined });
// @ts-expect-error a typing error
createRateLimitHandler({ limiter, key: SHARED_BUCKET, authorise: () => true });
// @ts-expect-error no such name
createRateLimitHandler({ limiter, key: ({ name }) => (name === "sned" ? "a" : "b") });

const withContext = createRateLimitHandler({
  limiter,
  context: async (request, user: { id: string }) => ({ id: user.id, url: request.url }),
  key: ({ ctx }) => {
    assert<Equal<typeof ctx, { id: string; url: string }>>();
    return ctx.id;
  },
});
void withContext(new Request("http://x"), { id: "ada" });
// @ts-expect-error without the argument of its context
void withContext(new Request("http://x"));

createRateLimitHandler({
  limiter: planned,
  key: SHARED_BUCKET,
  plan: ({ name }) => {
    assert<Equal<typeof name, "pictures">>();
    return "pro";
  },
});
// @ts-expect-error nothing says the plan
createRateLimitHandler({ limiter: planned, key: SHARED_BUCKET });
// @ts-expect-error no such plan
createRateLimitHandler({ limiter: planned, key: SHARED_BUCKET, plan: () => "por" });
createRateLimitHandler({ limiter: byLimiter, key: SHARED_BUCKET });
createRateLimitHandler({ limiter: byLimiter, key: SHARED_BUCKET, plan: () => "free" });

createServer(toNodeHandler(handler));
createHttp2Server(toNodeHandler(handler));
express().all("/api/limits", toNodeHandler(handler));
express().use("/api/limits", toNodeHandler(handler));
express().all(
  "/api/limits",
  toNodeHandler(withContext, (_req: ExpressRequest) => ({ id: "ada" })),
);
const answer = toNodeHandler(withContext, (_request: FastifyRequest) => ({ id: "ada" }));
fastify().all("/api/limits", (request, reply) => {
  reply.hijack();
  answer(request, reply.raw);
});
// @ts-expect-error no argument for its context
toNodeHandler(withContext);
// @ts-expect-error not the argument of its context
toNodeHandler(withContext, () => ({ id: 1 }));
