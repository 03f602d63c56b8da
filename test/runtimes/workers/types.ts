/** Compiled by `types.test.ts`, with the types of Cloudflare and of the built package. */
import { drizzle } from "drizzle-orm/d1";
import { drizzleStore } from "../../../dist/server/drizzle/index.js";
import { createRateLimiter, d1Store, durableStore, MINUTE } from "../../../dist/server/index.js";

declare const db: D1Database;
declare const ctx: DurableObjectState;

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;

for (const store of [d1Store(db, { table: "limits" }), durableStore(ctx.storage)]) {
  void createRateLimiter({ store, limits }).limit("few");
}
void createRateLimiter({ store: drizzleStore(drizzle(db)), limits }).limit("few");

// @ts-expect-error No isolation is offered.
d1Store(db, { isolation: "serializable" });
// @ts-expect-error A session of D1 is none.
d1Store(db.withSession());
// @ts-expect-error The storage, and not the state.
durableStore(ctx);
