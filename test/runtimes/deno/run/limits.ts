/** A limit of three, in memory, on SQLite and on PostgreSQL. Prints the answers of four calls each. */
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import {
  createRateLimiter,
  DAY,
  memoryStore,
  pgStore,
  type RateLimitStore,
  sqliteStore,
} from "trpc-rate-limit/server";

const [postgresUrl, migration] = Deno.args;

async function fourCalls(store: RateLimitStore): Promise<boolean[]> {
  const limiter = createRateLimiter({
    store,
    limits: { few: { kind: "token bucket", rate: 3, period: 1000 * DAY } },
  });
  const answers: boolean[] = [];
  for (let i = 0; i < 4; i++) answers.push((await limiter.limit("few", { key: "one" })).ok);
  return answers;
}

const database = new DatabaseSync(":memory:");
database.exec(readFileSync(migration!, "utf8"));
const pool = new pg.Pool({ connectionString: postgresUrl });
console.log(
  JSON.stringify({
    memory: await fourCalls(memoryStore()),
    sqlite: await fourCalls(sqliteStore(database)),
    pg: await fourCalls(pgStore(pool)),
  }),
);
await pool.end();
