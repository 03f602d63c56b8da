/**
 * Contenders with processes that hold blocks of tokens. PostgreSQL. Their rows do not account for grants,
 * because tokens that the processes still hold count as taken, too.
 */
import { createRateLimiter, DAY, pgStore } from "trpc-rate-limit/server";
import { type Kind, yielding } from "./contenders.js";
import { connectPool } from "./databases.js";

export const leased: Record<string, Kind> = {
  "ours, pg, with a lease": {
    async open(tokens, url) {
      const pool = connectPool(url);
      const limiter = createRateLimiter({
        store: pgStore(pool),
        limits: {
          leased: {
            kind: "token bucket",
            rate: tokens,
            period: 365_000 * DAY,
            lease: { ms: 1000 },
          },
        },
      });
      return yielding({
        take: (key) => limiter.limit("leased", { key }).then(({ ok }) => ok),
        close: () => pool.end(),
      });
    },
  },
};
