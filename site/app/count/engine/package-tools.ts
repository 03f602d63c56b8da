/** The package in a process of a run: its limiter and its arithmetic, on the table that all presets share. */
import {
  createRateLimiter,
  HOUR,
  MINUTE,
  type RateLimitStore,
  SECOND,
} from "trpc-rate-limit/server";
import type { Database } from "./database.js";
import type { Tools } from "./process.js";

type Row = { used: number; ts: number };

/**
 * A store on the table of the run. A decision is one statement, as long on its way as any other one, and
 * happens at one instant: as `memoryStore` decides within one tick, and `pgStore` within one statement.
 */
export function tableStore(db: Pick<Database, "transaction">): RateLimitStore {
  return {
    async apply<TResult>(decisions: Parameters<RateLimitStore["apply"]>[0]) {
      const results = decisions.map((decision) => {
        const keys = decision.rows.map(({ name, key, shard }) => `${name} ${key} ${shard}`);
        return db.transaction(keys, (values) => {
          const states = values.map((value) => (value ?? null) as Row | null);
          const { result, writes = [] } = decision.decide(states);
          const next = states.map((state, i) => (writes[i] === undefined ? state : writes[i]));
          return { values: next.map((state) => state ?? undefined), result };
        });
      });
      return (await Promise.all(results)) as TResult[];
    },
  };
}

/** The limiter goes by the clock of the run. */
export function packageTools(clock: () => number, db: Database): Tools {
  return {
    createRateLimiter: (options: Parameters<typeof createRateLimiter>[0]) =>
      createRateLimiter({ clock, ...options }),
    store: tableStore(db),
    HOUR,
    MINUTE,
    SECOND,
  };
}
