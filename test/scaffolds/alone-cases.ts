/** Applications with one driver, or with none. Each `name` is a program of `fixtures/alone`. */

export interface Case {
  /** The name of the program. */
  name: string;
  /** What the application installs beside the package. */
  packages: string[];
  /** Peers and drivers that come with these packages. */
  brings?: string[];
  /** The kind of database that the program gets the URL of. */
  database?: "postgresql" | "mysql" | "sqlite";
  /** A generated client that the program imports, from the root of this repository. */
  generated?: string;
  /** Only its types are checked. */
  typesOnly?: boolean;
  /** Also by day. `test/docs/entry-points.test.ts` has what each entry point needs. */
  isDaily?: boolean;
}

const NODE = ["@types/node@20"];
const REACT = ["react", "@types/react", "@tanstack/react-query", "@trpc/client"];

export const NEWEST: Case[] = [
  { name: "trpc", packages: ["@trpc/server", "zod"] },
  { name: "pg", packages: [...NODE, "pg", "@types/pg"], database: "postgresql", isDaily: true },
  { name: "mysql2", packages: [...NODE, "mysql2"], database: "mysql" },
  { name: "mariadb", packages: [...NODE, "mariadb"], database: "mysql" },
  { name: "libsql", packages: [...NODE, "@libsql/client@0.17.4"], database: "sqlite" },
  {
    name: "better-sqlite3",
    // Compiling it takes a minute; `test/store` runs on it.
    packages: [...NODE, "better-sqlite3", "@types/better-sqlite3", "--ignore-scripts"],
    typesOnly: true,
  },
  {
    name: "drizzle",
    packages: [...NODE, "drizzle-orm@0.45.4", "postgres"],
    database: "postgresql",
  },
  {
    name: "drizzle",
    packages: [...NODE, "drizzle-orm@1.0.0-rc.5", "postgres"],
    database: "postgresql",
  },
  {
    name: "kysely",
    packages: [...NODE, "kysely@0.28", "pg", "@types/pg"],
    database: "postgresql",
  },
  {
    name: "kysely",
    packages: [...NODE, "kysely@0.29", "pg", "@types/pg"],
    database: "postgresql",
  },
  {
    name: "prisma-7",
    packages: [...NODE, "@prisma/client@7.10.0"],
    generated: "prisma/generated/client",
    typesOnly: true,
  },
  {
    name: "prisma-6",
    packages: [...NODE, "@prisma/client@6.19.3", "--ignore-scripts"],
    generated: "test/prisma-6/generated/sqlite",
    typesOnly: true,
  },
  { name: "client", packages: ["@trpc/client"], brings: ["@trpc/server"] },
  { name: "react", packages: REACT, brings: ["@trpc/server"] },
  { name: "countdown", packages: ["react", "@types/react"] },
];

/** The oldest peers that package.json accepts. */
export const OLDEST: Case[] = [
  { name: "trpc", packages: ["@trpc/server@11.4.0", "zod@3.25.1"] },
  {
    name: "client",
    packages: ["@trpc/client@11.4.0", "@trpc/server@11.4.0"],
  },
  {
    name: "react",
    packages: [
      "react@18.2.0",
      "@types/react@18.2",
      "@tanstack/react-query@5.0.0",
      "@trpc/client@11.4.0",
      "@trpc/server@11.4.0",
    ],
  },
  {
    name: "drizzle",
    packages: [...NODE, "drizzle-orm@0.38.0", "postgres"],
    database: "postgresql",
  },
  {
    name: "kysely",
    packages: [...NODE, "kysely@0.28.0", "pg", "@types/pg"],
    database: "postgresql",
  },
];
