/** The pieces of odd applications. */

export interface OddProject {
  name: string;
  /** Bytes, or text in UTF-8. */
  files: Record<string, string | Buffer>;
  /** By the path of a link: the path that it points to, relative to the application's folder. */
  links?: Record<string, string>;
  readOnly?: string[];
  /** Files that `init` changes or makes. All other files stay as they were. */
  changes: string[];
  /** Texts that `init` prints. */
  says?: RegExp[];
  /** The error with which `init` refuses the whole application. */
  refuses?: RegExp;
  /** Texts that files contain afterwards. */
  has?: Record<string, string>;
}

export const PACKAGE = `{
  "name": "app",
  "type": "module",
  "dependencies": {
    "@trpc/server": "^11.0.0",
    "zod": "^4.0.0"
  }
}
`;
export const withPackages = (...names: string[]) =>
  JSON.stringify(
    {
      name: "app",
      type: "module",
      dependencies: Object.fromEntries(names.map((name) => [name, "*"])),
    },
    undefined,
    2,
  ) + "\n";

export const SCHEMA = `generator client {
  provider = "prisma-client"
}

datasource db {
  provider = "postgresql"
}

model User {
  id Int @id
}
`;
export const CLIENT = `import { PrismaClient } from "@prisma/client";
export const prisma = new PrismaClient();
`;
export const TABLES = `import { pgTable, text } from "drizzle-orm/pg-core";

export const users = pgTable("users", { id: text("id").primaryKey() });
`;
export const POOL = `import pg from "pg";

export const pool = new pg.Pool();
`;
export const prisma = (files: Record<string, string | Buffer> = {}) => ({
  "package.json": PACKAGE,
  "prisma/schema.prisma": SCHEMA,
  "src/db.ts": CLIENT,
  ...files,
});
export const drizzle = (schema: string, files: Record<string, string> = {}) => ({
  "package.json": withPackages("drizzle-orm", "zod"),
  "src/db/schema.ts": schema,
  "src/db/index.ts": "export const db = drizzle(url);\n",
  ...files,
});
export const ALL = ["package.json", "prisma/schema.prisma", "src/limits.ts"];
export const DRIZZLE = ["package.json", "src/db/schema.ts", "src/server/limits.ts"];
