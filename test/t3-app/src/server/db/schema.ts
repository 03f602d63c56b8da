import { sql } from "drizzle-orm";
import { primaryKey, sqliteTableCreator } from "drizzle-orm/sqlite-core";

/** Several projects can share one database, because the names of their tables differ. */
export const createTable = sqliteTableCreator((name) => `t3-app_${name}`);

export const posts = createTable("post", (d) => ({
  id: d.integer({ mode: "number" }).primaryKey({ autoIncrement: true }),
  name: d.text({ length: 256 }),
  createdAt: d
    .integer({ mode: "timestamp" })
    .default(sql`(unixepoch())`)
    .notNull(),
}));

/** Read and written by the limiter only. */
export const rateLimits = createTable(
  "RateLimit",
  (d) => ({
    name: d.text().notNull(),
    key: d.text().notNull().default(""),
    shard: d.integer().notNull().default(0),
    used: d.real().notNull(),
    ts: d.real().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.name, t.key, t.shard] })],
);
