/** Contenders with calls that wait for each other, or for rows that the application holds. PostgreSQL. */
import { createRateLimiter, DAY, pgStore } from "trpc-rate-limit/server";
import type { Kind } from "./contenders.js";
import { connectPool } from "./databases.js";

const RATE = { kind: "fixed window", period: 365_000 * DAY, start: 0 } as const;

/**
 * How long a transaction of the application holds its row, and the pause before the next transaction, ms.
 */
const HOLD = 3000;
const PAUSE = 20;
const HELD_ROWS = 2;

function open(url: string, tokens: number) {
  const pool = connectPool(url);
  const limits = {
    first: { ...RATE, rate: tokens, maxReserved: tokens },
    second: { ...RATE, rate: tokens },
  };
  const limiter = createRateLimiter({ store: pgStore(pool), limits });
  const both = (key: string) =>
    limiter.limitAll([
      { name: "first", key },
      { name: "second", key },
    ]);
  return { pool, limiter, both };
}

export const contended: Record<string, Kind> = {
  /** `limit`, `limitAll`, `refund` and reservations in turn. */
  "ours, pg, calls of all kinds": {
    async open(tokens, url) {
      const { pool, limiter, both } = open(url, tokens);
      const calls: ((key: string) => Promise<unknown>)[] = [
        (key) => limiter.limit("first", { key }),
        both,
        (key) => limiter.refund("first", { key }),
        (key) => limiter.limit("first", { key, reserve: true }),
      ];
      let turn = 0;
      return {
        take: (key) => calls[turn++ % calls.length]!(key).then(() => true),
        close: () => pool.end(),
      };
    },
  },

  "ours, pg, limitAll": {
    async open(tokens, url) {
      const { pool, both } = open(url, tokens);
      return { take: (key) => both(key).then(({ ok }) => ok), close: () => pool.end() };
    },
  },

  /** Transactions hold rows that other callers want. The calls that are measured use other rows. */
  "ours, pg, limitAll beside held rows": {
    async open(tokens, url) {
      const { pool, both } = open(url, tokens);
      const holding = connectPool(url);
      let isOver = false;
      const held = Array.from({ length: HELD_ROWS }, (_, i) => `held ${process.pid} ${i}`);
      for (const key of held) await both(key);
      const hold = async (key: string) => {
        const client = await holding.connect();
        while (!isOver) {
          await client.query("BEGIN");
          const where = `WHERE name = 'first' AND key = $1`;
          await client.query(`SELECT 1 FROM "RateLimit" ${where} FOR UPDATE`, [key]);
          await new Promise((resolve) => setTimeout(resolve, HOLD));
          await client.query("COMMIT");
          await new Promise((resolve) => setTimeout(resolve, PAUSE));
        }
        client.release();
      };
      const want = async (key: string) => {
        while (!isOver) await both(key).catch(() => {});
      };
      const others = held.flatMap((key) => [hold(key), want(key)]);
      return {
        take: (key) => both(key).then(({ ok }) => ok),
        async close() {
          isOver = true;
          await Promise.all(others);
          await Promise.all([pool.end(), holding.end()]);
        },
      };
    },
  },
};
