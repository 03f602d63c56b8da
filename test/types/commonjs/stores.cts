/**
 * Code that must compile where a store becomes CommonJS: the transactions of the application's own
 * client.
 */
import { metrics } from "@opentelemetry/api";
import { drizzle } from "drizzle-orm/node-postgres";
import { pgTable, text } from "drizzle-orm/pg-core";
import { Hono } from "hono";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimitHono } from "trpc-rate-limit/hono";
import { kyselyStore, type RateLimitTable } from "trpc-rate-limit/kysely";
import { rateLimitMetrics } from "trpc-rate-limit/otel";
import { createRateLimiter, ipKey, MINUTE, pgStore } from "trpc-rate-limit/server";

interface Tables {
  RateLimit: RateLimitTable;
  posts: { body: string };
}

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const pool = new Pool();

const kysely = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
const onKysely = createRateLimiter({ store: kyselyStore(kysely, { pool }), limits });
export const throughKysely = onKysely.transaction(async ({ tx, limit }) => {
  await limit("few", { throws: true });
  await tx.insertInto("posts").values({ body: "hello" }).execute();
  // @ts-expect-error not a table of the application
  await tx.insertInto("pots").values({ body: "hello" }).execute();
});
export const joined = kysely.transaction().execute((tx) => onKysely.using(tx).limit("few"));

const posts = pgTable("posts", { body: text("body") });
const onDrizzle = createRateLimiter({ store: drizzleStore(drizzle({ client: pool })), limits });
export const throughDrizzle = onDrizzle.transaction(({ tx }) =>
  tx.insert(posts).values({ body: "hello" }),
);

const { onDecision } = rateLimitMetrics({ meter: metrics.getMeter("limits") });
const limiter = createRateLimiter({ store: pgStore(pool), limits, onDecision });
const { rateLimited } = createRateLimitHono({ limiter, key: () => ipKey("127.0.0.1") });
export const app = new Hono().post("/", rateLimited("few"), (c) =>
  c.text(c.var.rateLimit.value.toFixed()),
);
