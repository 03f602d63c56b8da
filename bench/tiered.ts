/** Contenders with many configs, as in applications with a config for each tier. PostgreSQL. */
import { createRateLimiter, DAY, pgStore, type RateLimitConfig } from "trpc-rate-limit/server";
import type { Kind } from "./contenders.js";
import { connectPool } from "./databases.js";

const TIERS = 16;

/** The configs differ in their periods. Nothing refills during a run. */
function tiersOf(tokens: number): RateLimitConfig[] {
  const period = 365_000 * DAY;
  return Array.from({ length: TIERS }, (_, tier) => {
    return { kind: "fixed window", rate: tokens, period: period + tier, start: 0 };
  });
}

function tierOf(key: string): number {
  return Number(key.slice(key.lastIndexOf(" "))) % TIERS;
}

const account = (names: string) => () =>
  `SELECT sum(used) AS n FROM "RateLimit" WHERE name LIKE '${names}'`;

export const tiered: Record<string, Kind> = {
  /** One limit. The config of a call depends on the key. */
  [`ours, pg, ${TIERS} tiers`]: {
    async open(tokens, url) {
      const pool = connectPool(url);
      const tiers = tiersOf(tokens);
      const limits = { tiered: tiers[0]! };
      const limiter = createRateLimiter({ store: pgStore(pool), limits });
      return {
        take: async (key) =>
          (await limiter.limit("tiered", { key, config: tiers[tierOf(key)]! })).ok,
        close: () => pool.end(),
      };
    },
    account: account("tiered"),
  },

  /** A limit for each tier. */
  [`ours, pg, ${TIERS} limits`]: {
    async open(tokens, url) {
      const pool = connectPool(url);
      const limits = Object.fromEntries(tiersOf(tokens).map((tier, i) => [`each ${i}`, tier]));
      const limiter = createRateLimiter({ store: pgStore(pool), limits });
      return {
        take: async (key) => (await limiter.limit(`each ${tierOf(key)}`, { key })).ok,
        close: () => pool.end(),
      };
    },
    account: account("each %"),
  },
};
