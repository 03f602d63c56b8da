/** Schemas of Drizzle that have limits of their own already, or are of an older version. */
import { application, EXPRESS } from "../trpc-applications.js";
import { honoWorkspace } from "./hono-workspace.js";
import { json } from "./parts.js";
import type { Shape } from "./shape.js";

export const TAKEN_FILE: Shape = {
  name: "a folder of schemas with a table of limits of its own, in the file that init would make",
  files: {
    ...honoWorkspace(),
    "packages/db/src/schema/rate-limit.ts": `import { integer, pgTable, serial, text, timestamp } from "drizzle-orm/pg-core";

export const rateLimits = pgTable("rate_limits", {
  id: serial("id").primaryKey(),
  key: text("key").notNull(),
  windowStart: timestamp("window_start").notNull(),
  count: integer("count").notNull().default(1),
});
`,
  },
  right: {
    somewhere: [`export const trpcRateLimits = pgTable("trpc_rate_limits",`],
    written: {
      "packages/api/src/limits.ts": ["drizzleStore(db, { table: trpcRateLimits })"],
      "packages/api/src/index.ts": ["createRateLimitTRPC({"],
    },
    untouched: ["packages/db/src/schema/rate-limit.ts"],
    never: [/^By hand, in packages\/(?:db|api)/m],
  },
};

export const OLD_DRIZZLE: Shape = {
  name: "Drizzle 0.34, whose constraints are an object",
  files: {
    ...application(EXPRESS),
    "package.json": json({
      name: "depot",
      type: "module",
      dependencies: {
        "@trpc/client": "^11.8.0",
        "@trpc/server": "^11.8.0",
        "drizzle-orm": "^0.34.0",
        express: "^5.1.0",
        postgres: "^3.4.4",
        react: "^19.0.0",
        zod: "^3.25.76",
      },
      devDependencies: { "drizzle-kit": "^0.25.0" },
    }),
    "drizzle.config.ts": `import { defineConfig } from "drizzle-kit";

export default defineConfig({ schema: "./src/schema.ts", dialect: "postgresql" });
`,
    "src/schema.ts": `import { pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";

export const parcels = pgTable(
  "parcels",
  {
    id: uuid("id").notNull(),
    depot: uuid("depot").notNull(),
  },
  (table) => ({
    pk: primaryKey({ columns: [table.id, table.depot] }),
  }),
);
`,
    "src/db.ts": `import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";

export const pool = drizzle(postgres(process.env.DATABASE_URL!));
`,
  },
  right: {
    written: {
      "src/schema.ts": [
        /\((\w+)\) => \(\{\s*\w+: primaryKey\(\{ columns: \[\1\.name, \1\.key, \1\.shard\] \}\)/,
        /\((\w+)\) => \(\{\s*\w+: primaryKey\(\{ columns: \[\1\.name, \1\.key\] \}\)/,
      ],
      "src/limits.ts": ["drizzleStore(pool, { table: rateLimits })"],
    },
    // Its types refuse a list, and its kit makes no key of one.
    never: [/=> \[primaryKey/],
  },
};
