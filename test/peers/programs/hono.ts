import { Hono } from "hono";
import { createRateLimitHono } from "trpc-rate-limit/hono";
import { createRateLimiter, HOUR, memoryStore } from "trpc-rate-limit/server";

const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});
const key = () => "ann";
const { rateLimited } = createRateLimitHono({ limiter, key });
const app = new Hono();
app.get("/", rateLimited("few"), (c) => c.text(c.var.rateLimit.ok ? "granted" : ""));

const first = await app.request("/");
const second = await app.request("/");
const isDenied = second.status === 429 && second.headers.has("retry-after");
console.log(`${await first.text()}, then ${isDenied ? "denied" : second.status}`);
