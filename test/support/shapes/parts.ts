/** Pieces of which the shapes are made. */
import { json } from "../monorepo.js";
import type { Files } from "./shape.js";

export { json };

/** A TypeScript application with the alias `@/` of `src`. */
export const WITH_ALIAS = json({
  compilerOptions: {
    strict: true,
    module: "preserve",
    jsx: "preserve",
    paths: { "@/*": ["./src/*"] },
  },
});

export const POOL = `import { Pool } from "pg";

export const pool = new Pool({ connectionString: process.env.DATABASE_URL });
`;

/** The schema of Prisma with one model. */
export const prismaSchema = (model: string) => `generator client {
  provider = "prisma-client"
  output   = "../src/generated"
}

datasource db {
  provider = "postgresql"
}

${model}
`;

/** One model whose table has a name of its own, as where tables are plural. */
export const MAPPED_MODEL = `model Parcel {
  id       String @id
  weightKg Float  @map("weight_kg")

  @@map("parcels")
}`;

/** Commands of npm, and not of pnpm. */
export const NPM = /(?<![\w-])npm /;

/** The package.json of a server that Bun runs. */
export const bunPackage = (dependencies: Readonly<Record<string, string>>) =>
  json({
    name: "depot",
    type: "module",
    packageManager: "bun@1.3.11",
    scripts: { dev: "bun run --hot src/index.ts", start: "bun src/index.ts" },
    dependencies,
    devDependencies: { "@types/bun": "^1.3.0" },
  });

export const pnpmWorkspace = (more = "") => `packages:\n  - "apps/*"\n  - "packages/*"\n${more}`;

/** A package of the workspace whose files others import by their paths. */
export const workspacePackage = (
  name: string,
  dependencies: Readonly<Record<string, string>>,
  more: object = {},
) =>
  json({
    name,
    type: "module",
    exports: { ".": "./src/index.ts", "./*": "./src/*.ts" },
    dependencies,
    ...more,
  });

/** The package of a database on Drizzle, with a folder of schemas. */
export const DRIZZLE_PACKAGE: Files = {
  "packages/db/package.json": workspacePackage(
    "@depot/db",
    { "drizzle-orm": "^0.44.2", pg: "^8.16.0" },
    { devDependencies: { "drizzle-kit": "^0.31.2" } },
  ),
  "packages/db/drizzle.config.ts": `import { defineConfig } from "drizzle-kit";

export default defineConfig({ schema: "./src/schema", dialect: "postgresql" });
`,
  "packages/db/src/index.ts": `import { drizzle } from "drizzle-orm/node-postgres";

export const db = drizzle(process.env.DATABASE_URL!);
`,
  "packages/db/src/schema/parcel.ts": `import { pgTable, text } from "drizzle-orm/pg-core";

export const parcels = pgTable("parcels", { id: text("id").primaryKey() });
`,
};
