/** Hono's middleware in a Worker, with a limiter per request on D1. */
import { type Context, Hono } from "hono";
import { createRateLimitHono } from "../../../server/hono/index.js";
import { createRateLimiter, d1Store, type D1DatabaseLike, MINUTE } from "../../../server/index.js";

interface WorkerEnv {
  Bindings: { DB: D1DatabaseLike };
}
const limits = { send: { kind: "token bucket", rate: 37, period: MINUTE } } as const;

const { rateLimited } = createRateLimitHono({
  limiter: (c: Context<WorkerEnv>) => createRateLimiter({ store: d1Store(c.env.DB), limits }),
  key: (c) => c.req.query("key") ?? null,
});

export default new Hono<WorkerEnv>().get("/", rateLimited("send"), (c) => c.text("sent"));
