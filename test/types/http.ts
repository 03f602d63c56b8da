/** Code without tRPC that must and must not compile. `tsc` checks it; it never runs. */
import express, { type Request as ExpressRequest, type Response as ExpressResponse } from "express";
import { Hono } from "hono";
import { createRateLimitExpress } from "trpc-rate-limit/express";
import { createRateLimitHono } from "trpc-rate-limit/hono";
import {
  betterAuthPlugin,
  createRateLimiter,
  ipKey,
  memoryStore,
  MINUTE,
  type RateLimitError,
  type RateLimiter,
  rateLimitHeaders,
  rateLimitResponse,
  resetAt,
  SECOND,
} from "trpc-rate-limit/server";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const assert = <T extends true>(): T | void => {};

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
});
const inline = { kind: "fixed window", rate: 1, period: SECOND } as const;

export async function responses(thrown: unknown, error: RateLimitError, anyLimiter: RateLimiter) {
  rateLimitResponse(thrown);
  rateLimitResponse(error, { headers: { vary: "Origin" } });
  rateLimitHeaders(error);
  const result = await limiter.limit("sendMessage");
  rateLimitResponse(result, { limiter, name: "sendMessage", key: "ada", headers: new Headers() });
  rateLimitHeaders(result, { limiter, name: "sendMessage", config: inline });
  rateLimitHeaders(result, { limiter, name: "oneOff", config: inline });
  rateLimitHeaders(result, { limiter: anyLimiter, name: "sendMessage" });
  await limiter.transaction(async ({ limit }) => {
    rateLimitHeaders(await limit("sendMessage"), { limiter, name: "sendMessage" });
  });
  // @ts-expect-error a result does not say what it is about
  rateLimitResponse(result);
  // @ts-expect-error a result does not say what it is about
  rateLimitResponse(result, { headers: {} });
  // @ts-expect-error a result does not say what it is about
  rateLimitHeaders(result);
  // @ts-expect-error a misspelt name
  rateLimitHeaders(result, { limiter, name: "sendMesage" });
  // @ts-expect-error a misspelt name
  rateLimitResponse(result, { limiter, name: "sendMesage" });
  // @ts-expect-error several limits at once
  rateLimitResponse(await limiter.limitAll([{ name: "sendMessage" }]));
  // @ts-expect-error not every error is a denial
  rateLimitHeaders(new Error("a bug"));
}

export async function fields(error: RateLimitError) {
  const result = await limiter.limit("sendMessage");
  const about = { limiter, name: "sendMessage" } as const;
  rateLimitHeaders(result, { ...about, xRateLimit: "seconds" });
  rateLimitHeaders(error, { xRateLimit: "epoch" });
  rateLimitResponse(error, { xRateLimit: "epoch" });
  rateLimitResponse(result, { ...about, xRateLimit: "epoch" });
  // @ts-expect-error no such form
  rateLimitHeaders(error, { xRateLimit: "ms" });
}

export async function resets(error: RateLimitError) {
  const config = limiter.configOf("sendMessage");
  const [snapshot] = await limiter.snapshots([{ name: "sendMessage" }]);
  const states = [snapshot!, error.data.rateLimit, await limiter.getValue("sendMessage")];
  for (const state of states) resetAt(state);
  const result = await limiter.limit("sendMessage");
  if (result.ok) resetAt({ ...result, config });
  resetAt({ ...result, config, now: limiter.clock() });
  // @ts-expect-error a denial does not say when it was
  if (!result.ok) resetAt({ ...result, config });
  // @ts-expect-error a result does not say its config
  resetAt({ ...result, now: limiter.clock() });
}

interface Session {
  userId: string | null;
}
type SessionRequest = ExpressRequest & { session: Session };

export function routes(error: Error) {
  const app = express();
  const { rateLimited } = createRateLimitExpress({ limiter, key: (req) => ipKey(req.ip) });
  app.use(rateLimited("sendMessage"));
  app.get("/:id", rateLimited(["sendMessage"]), (req, res) => void res.json(req.params.id));
  app.post("/", rateLimited("sendMessage", { on: (res) => res.statusCode === 401 }));
  // @ts-expect-error a misspelt name
  rateLimited("sendMesage");
  // @ts-expect-error undefined is what a missing user id looks like
  rateLimited("sendMessage", { key: () => undefined });

  const { rateLimited: ofUsers } = createRateLimitExpress({
    limiter,
    key: async (req: SessionRequest) => req.session.userId,
    respond(_req, res: ExpressResponse, refusal, response) {
      if (refusal.reason === "denied") assert<Equal<typeof refusal.error, RateLimitError>>();
      if (refusal.reason === "no key") return res.redirect("/log-in");
      res.status(response.status).json({ error: refusal.error.message });
    },
    xRateLimit: "epoch",
  });
  app.get(
    "/",
    ofUsers("sendMessage", { count: (req) => req.session.userId?.length ?? 1 }) as never,
  );

  const { rateLimited: ofHono } = createRateLimitHono({
    limiter,
    key: (c) => c.req.header("x-user") ?? null,
    respond: (c, { reason }, response) => (reason === "denied" ? response : c.json({}, 401)),
  });
  new Hono().get("/", ofHono("sendMessage", { respond: () => Response.error() }));
  // @ts-expect-error an answer is a response
  ofHono("sendMessage", { respond: () => error });
  betterAuthPlugin(limiter, {}, { respond: (call, _refusal, own) => (call.account ? own : error) });
}

export function keys(header: string | null, address: string | undefined, many: string[]) {
  ipKey(header);
  ipKey(address, { ipv6Prefix: 56 });
  // @ts-expect-error a header that came several times
  ipKey(many);
  // @ts-expect-error a misspelt option
  ipKey(header, { ipv6prefix: 56 });
}
