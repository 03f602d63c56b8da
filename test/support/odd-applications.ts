/** Applications whose layout, code or Drizzle schema is odd. Each name says what is odd. */
import {
  CLIENT,
  DRIZZLE,
  drizzle,
  type OddProject,
  PACKAGE,
  POOL,
  SCHEMA,
  TABLES,
  withPackages,
} from "./odd-project.js";

export const ODD_APPLICATIONS: OddProject[] = [
  {
    name: "no src",
    files: { "package.json": PACKAGE, "prisma/schema.prisma": SCHEMA, "db.ts": CLIENT },
    changes: ["package.json", "prisma/schema.prisma", "server/limits.ts"],
    has: { "server/limits.ts": `from "../db"` },
  },
  {
    name: "JavaScript only",
    files: {
      "package.json": withPackages("express", "pg"),
      "src/db.js": POOL,
      "src/main.js": `import { pool } from "./db.js";\n`,
    },
    changes: ["package.json", "src/limits.js", "src/rate-limit.sql"],
    has: { "src/limits.js": `import { pool } from "./db.js";` },
  },
  {
    name: "CommonJS only",
    files: {
      "package.json": withPackages("express", "mysql2").replace('"type": "module",', ""),
      "db.js": `const mysql = require("mysql2");\nconst pool = mysql.createPool({});\nmodule.exports = pool;\n`,
    },
    changes: ["package.json", "server/limits.mjs", "server/rate-limit.sql"],
    has: { "server/limits.mjs": `import pool from "../db.js";` },
  },
  {
    name: "single quotes, no semicolons, and endings of TypeScript",
    files: {
      "package.json": withPackages("hono", "pg"),
      "tsconfig.json": `{\n  // as Node.js runs it\n  "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true, },\n}\n`,
      "src/db.ts": `import pg from 'pg'\n\nexport const pool = new pg.Pool()\n`,
      "src/main.ts": `import { pool } from './db.ts'\n`,
    },
    changes: ["package.json", "src/limits.ts", "src/rate-limit.sql"],
    has: { "src/limits.ts": `import { pool } from './db.ts'\n` },
  },
  {
    name: "an alias in a file that tsconfig.json extends",
    files: {
      "package.json": withPackages("fastify", "pg"),
      "tsconfig.json": `{ "extends": "./tsconfig.base" }\n`,
      "tsconfig.base.json": `{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }\n`,
      "src/db.ts": POOL,
      "src/main.ts": `import { pool } from "@/db";\nimport "./x";\n`,
    },
    changes: ["package.json", "src/limits.ts", "src/rate-limit.sql"],
    has: { "src/limits.ts": `import { pool } from "@/db";` },
  },
  {
    name: "several applications, in the root of a workspace",
    files: {
      "package.json": `{ "workspaces": ["apps/*", "packages/*"], "devDependencies": { "turbo": "2", "prisma": "7" } }\n`,
      "apps/api/package.json": withPackages("hono", "pg"),
      "apps/web/package.json": PACKAGE,
      "packages/tsconfig/package.json": `{ "name": "tsconfig" }\n`,
    },
    changes: [],
    refuses: /this is the root of a workspace and no application; .*: apps\/api, apps\/web$/,
  },
  {
    name: "an application in a workspace that has a root of its own",
    files: {
      "package.json": `{\n  "workspaces": ["packages/*"],\n  "dependencies": {\n    "express": "5"\n  }\n}\n`,
      "packages/a/package.json": `{ "dependencies": { "zod": "4" } }\n`,
    },
    changes: ["package.json", "server/limits.mjs"],
  },
  {
    name: "a Drizzle import with a comment that has a comma",
    files: drizzle(
      `import {\n  pgTable, // tables, and\n  text,\n} from "drizzle-orm/pg-core";\n\nexport const a = pgTable("a", { id: text("id") });\n`,
    ),
    changes: DRIZZLE,
    has: {
      "src/db/schema.ts": `import { primaryKey } from "drizzle-orm/pg-core";\nimport {\n  pgTable, // tables`,
    },
  },
  {
    name: "a Drizzle import in a comment",
    files: drizzle(`/*\nimport { text } from "drizzle-orm/pg-core";\n*/\n${TABLES}`),
    changes: DRIZZLE,
    has: { "src/db/schema.ts": `import { pgTable, primaryKey, text } from` },
  },
  {
    name: "a Drizzle schema with a primaryKey of its own",
    files: drizzle(`${TABLES}\nexport const primaryKey = "id";\n`),
    changes: ["package.json"],
    says: [/By hand, in src\/db\/schema\.ts \(it uses the name primaryKey for something else\)/],
  },
  {
    name: "a Drizzle schema with an alias",
    files: drizzle(TABLES.replace("{ pgTable", "{ pgTable as table, pgTable")),
    changes: DRIZZLE,
    has: { "src/db/schema.ts": "export const rateLimits = pgTable(" },
  },
  {
    name: "a read-only Drizzle schema",
    files: drizzle(TABLES),
    readOnly: ["src/db/schema.ts"],
    changes: ["package.json"],
    says: [/\(it is read-only\)/, /By hand, in src\/server\/limits\.ts \(it needs the table\)/],
  },
  {
    name: "a Drizzle schema with Windows line ends and no line end at the end",
    files: drizzle(TABLES.trimEnd().replaceAll("\n", "\r\n")),
    changes: DRIZZLE,
    has: { "src/db/schema.ts": `.primaryKey() });\r\n\r\n/** The limits` },
  },
  {
    name: "a table of limits in a migration of its own",
    files: {
      "package.json": withPackages("express", "pg"),
      "db/1.sql": `CREATE TABLE "RateLimit" ("name" TEXT, "key" TEXT, "shard" INTEGER);\n`,
      "src/db.ts": POOL,
    },
    changes: ["package.json", "src/limits.ts"],
    says: [/psql "\$\{DATABASE_URL:\?\}" -f db\/1\.sql/],
  },
  {
    name: "a file rate-limit.sql of its own",
    files: {
      "package.json": withPackages("express", "pg"),
      "src/rate-limit.sql": "SELECT 1;\n",
      "src/db.ts": POOL,
    },
    changes: ["package.json", "src/limits.ts"],
    says: [/By hand, in src\/rate-limit\.sql \(there is a file of this name already/],
  },
];
