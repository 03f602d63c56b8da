/** Hono's middleware, served by Bun. */
import { Hono } from "hono";
import { createRateLimitHono } from "../../../../server/hono/index.js";
import { createRateLimiter, memoryStore, MINUTE } from "../../../../server/index.js";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { send: { kind: "token bucket", rate: 37, period: MINUTE } },
});
const { rateLimited } = createRateLimitHono({ limiter, key: (c) => c.req.query("key") ?? null });
const app = new Hono().get("/", rateLimited("send"), (c) => c.text("sent"));

// Bun serves a program that exports such an object, and prints its address.
export default { port: 0, fetch: app.fetch };
