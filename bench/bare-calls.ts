/**
 * Contenders that are no limiters: the least that a call through a client library to a database costs.
 * The CPU of a limiter is what the limiter spends beyond this cost.
 */
import { Redis } from "ioredis";
import mysql from "mysql2";
import type { Kind } from "./contenders.js";
import { connectPool, connectPostgres } from "./databases.js";

export const bareCalls: Record<string, Kind> = {
  /** A prepared statement, as those of this package and of the peer. */
  "empty query, pg": {
    async open(_tokens, url) {
      const pool = connectPool(url);
      const query = { name: "empty", text: "SELECT $1::int AS x", values: [1] };
      return {
        take: async () => (await pool.query(query)).rows.length === 1,
        close: () => pool.end(),
      };
    },
  },

  "empty query, Prisma": {
    async open(_tokens, url) {
      const prisma = connectPostgres(url);
      return {
        take: async () => (await prisma.$queryRaw`SELECT ${1}::int AS x`) !== undefined,
        close: () => prisma.$disconnect(),
      };
    },
  },

  /** The one statement that every limiter in a table needs. */
  "bare upsert, Prisma": {
    async open(tokens, url) {
      const prisma = connectPostgres(url);
      return {
        async take(key) {
          const rows = await prisma.$queryRaw<{ used: number }[]>`
            INSERT INTO "RateLimit" AS t ("name", "key", "shard", "used", "ts")
            VALUES ('bare', ${key}, 0, 1, ${Date.now()})
            ON CONFLICT ("name", "key", "shard") DO UPDATE SET "used" = t."used" + 1
            WHERE t."used" <= ${tokens - 1} RETURNING "used"`;
          return rows.length === 1;
        },
        close: () => prisma.$disconnect(),
      };
    },
  },

  "empty query, mysql2": {
    async open(_tokens, url) {
      const pool = mysql.createPool({ uri: url, connectionLimit: 10 }).promise();
      return {
        take: async () => (await pool.execute("SELECT ? AS x", [1])) !== undefined,
        close: () => pool.end(),
      };
    },
  },

  "GET, ioredis": {
    async open(_tokens, url) {
      const client = new Redis(url);
      return {
        take: async (key) => (await client.get(key)) === null,
        close: async () => void (await client.quit()),
      };
    },
  },
};
