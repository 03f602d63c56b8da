/** A worker in which each request connects to PostgreSQL, directly or through Hyperdrive. */
import { env, waitUntil } from "cloudflare:workers";
import pg from "pg";
import { createRateLimiter, DAY, MINUTE, pgStore } from "../../../server/index.js";

const limits = {
  send: { kind: "fixed window", rate: 37, period: 1000 * DAY, start: 0 },
  login: { kind: "token bucket", rate: 5, period: MINUTE },
} as const;

/** How many statements the requests have sent. */
let statements = 0;

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  client.query = ((...args: unknown[]) => {
    statements++;
    return query(...args);
  }) as typeof client.query;
  return client;
}

let refused = "nothing";
try {
  pgStore(new pg.Pool({ connectionString: env.POSTGRES_URL }));
} catch (error) {
  refused = String(error);
}

/**
 * A mistake that an application should not make: a pool that the first request creates for all requests.
 */
let firstPool: pg.Pool | undefined;

async function onClient(pathname: string, key: string): Promise<unknown> {
  const isDirect = pathname !== "/hyperdrive";
  const client = await connect(isDirect ? env.POSTGRES_URL : env.HYPERDRIVE.connectionString);
  const limiter = createRateLimiter({ store: pgStore(client), limits });
  try {
    if (pathname === "/all") {
      const { ok } = await limiter.limitAll([
        { name: "send", key },
        { name: "login", key },
      ]);
      return ok;
    }
    if (pathname === "/using") {
      await client.query("BEGIN");
      const { ok } = await limiter.using(client).limit("send", { key });
      await client.query("ROLLBACK");
      return [ok, (await limiter.getValue("send", { key })).value];
    }
    if (pathname === "/transaction") {
      return String(await limiter.transaction(async () => "done").catch((error: unknown) => error));
    }
    return Number((await limiter.limit("send", { key })).ok);
  } finally {
    waitUntil(client.end());
  }
}

async function onPool(pool: pg.Pool, key: string, timeout: number): Promise<unknown> {
  const limiter = createRateLimiter({ store: pgStore(pool), limits, timeout, logger: false });
  return limiter.limit("send", { key }).then(
    ({ ok }) => Number(ok),
    (error: unknown) => String(error),
  );
}

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const key = searchParams.get("key")!;
    if (pathname === "/statements") return Response.json(statements);
    if (pathname === "/refused") return Response.json(refused);
    if (pathname === "/first-pool") {
      firstPool ??= new pg.Pool({ connectionString: env.POSTGRES_URL, max: 1 });
      return Response.json(await onPool(firstPool, key, 500));
    }
    if (pathname === "/pool") {
      const pool = new pg.Pool({ connectionString: env.POSTGRES_URL, max: 1 });
      // A connection that ends with its request emits an error. Ignore it.
      pool.on("error", () => {});
      const answer = await onPool(pool, key, 20_000);
      waitUntil(pool.end());
      return Response.json(answer);
    }
    return Response.json(await onClient(pathname, key));
  },
};
