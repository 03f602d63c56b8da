/** Small monorepos like those that scaffolders write, for tests of the command. */

type Files = Record<string, string>;

export const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

export interface MonorepoOptions {
  packageManager?: "npm" | "bun" | "pnpm";
  orm?: "drizzle" | "prisma";
  /** Whether the context has a session. */
  session?: boolean;
  /** The server framework of the API. */
  host?: "hono" | "express" | "next" | "start";
  /** Code that the database's package has beside its schema. */
  db?: string;
}

/** Folders `packages/{api,db}` and `apps/{server,web}`; the server makes the database. */
export function monorepo(options: MonorepoOptions = {}): Files {
  const { packageManager = "npm", orm = "drizzle", session = false, host = "hono" } = options;
  const usesCatalog = packageManager !== "npm";
  const version = (range: string) => (usesCatalog ? "catalog:" : range);
  const own = usesCatalog ? "workspace:*" : "*";
  const catalog = { "@trpc/client": "^11.18.0", "@trpc/server": "^11.18.0", zod: "^4.5.4" };
  const globs = ["apps/*", "packages/*"];
  const workspaces = { npm: globs, bun: { packages: globs, catalog }, pnpm: undefined };
  const isOwnServer = host === "hono" || host === "express";
  const server = isOwnServer ? "apps/server" : "apps/web";
  return {
    "package.json": json({
      name: "shop",
      private: true,
      workspaces: workspaces[packageManager],
      scripts: {
        "db:push": "turbo run db:push",
        "db:generate": "turbo run db:generate",
        "db:migrate": "turbo run db:migrate",
      },
      dependencies: { zod: version("^4.5.4") },
      packageManager: { npm: "npm@11.19.1", bun: "bun@1.4.5", pnpm: "pnpm@10.26.0" }[
        packageManager
      ],
    }),
    ...(packageManager === "pnpm" && {
      "pnpm-workspace.yaml": `packages:\n  - "apps/*"\n  - "packages/*"\n\ncatalog:\n  "@trpc/client": ^11.18.0\n  "@trpc/server": ^11.18.0\n  zod: ^4.5.4\n`,
    }),
    "packages/api/package.json": json({
      name: "@shop/api",
      type: "module",
      exports: { ".": "./src/index.ts", "./*": "./src/*.ts" },
      dependencies: {
        "@shop/db": own,
        "@trpc/client": version("^11.18.0"),
        "@trpc/server": version("^11.18.0"),
        ...(orm === "drizzle" && { "drizzle-orm": "1.0.0-rc.4" }),
        zod: version("^4.5.4"),
      },
    }),
    "packages/api/src/context.ts": `import type { Database } from "@shop/db";

export type Context = {
${session ? "  session: { user: { id: string } } | null;\n" : ""}  db: Database;
};
`,
    "packages/api/src/index.ts": `import { initTRPC } from "@trpc/server";

import type { Context } from "./context";

export const t = initTRPC.context<Context>().create();

export const router = t.router;

export const publicProcedure = t.procedure;
`,
    "packages/api/src/routers/index.ts": `import { publicProcedure, router } from "../index";

export const appRouter = router({
  health: publicProcedure.query(() => "well"),
});
export type AppRouter = typeof appRouter;
`,
    ...(orm === "drizzle" ? DRIZZLE : PRISMA),
    "packages/db/package.json": json({
      name: "@shop/db",
      type: "module",
      scripts:
        orm === "drizzle"
          ? {
              "db:push": "drizzle-kit push",
              "db:generate": "drizzle-kit generate",
              "db:migrate": "drizzle-kit migrate",
            }
          : {
              "db:push": "prisma db push",
              "db:generate": "prisma generate",
              "db:migrate": "prisma migrate dev",
            },
      exports: { ".": "./src/index.ts", "./*": "./src/*.ts" },
      dependencies:
        orm === "drizzle"
          ? { "@libsql/client": "0.18.0", "drizzle-orm": "1.0.0-rc.4" }
          : { "@prisma/client": "^7.10.0" },
      devDependencies: orm === "drizzle" ? { "drizzle-kit": "1.0.0-rc.4" } : { prisma: "^7.10.0" },
    }),
    ...(options.db !== undefined && { "packages/db/src/index.ts": options.db }),
    ...(isOwnServer && {
      "apps/server/package.json": json({
        name: "server",
        type: "module",
        dependencies: {
          "@shop/api": own,
          "@shop/db": own,
          ...(host === "hono"
            ? { "@hono/node-server": "^2.1.1", hono: "^4.13.7" }
            : { express: "^5.1.0" }),
        },
      }),
    }),
    [`${server}/src/context.ts`]: CONTEXTS[host],
    [`${server}/src/services.ts`]: `import { createDb } from "@shop/db";

export const db = createDb({ DATABASE_URL: process.env.DATABASE_URL! });
`,
    [`${server}/.env`]: "DATABASE_URL=file:../../local.db\n",
    "apps/web/package.json": json({
      name: "web",
      type: "module",
      dependencies: {
        "@shop/api": own,
        ...(isOwnServer ? {} : { "@shop/db": own }),
        ...(host === "start" && { "@tanstack/react-start": "^1.170.0" }),
        "@trpc/client": version("^11.18.0"),
        ...(host === "next" && { next: "^16.0.0" }),
        react: "^19.2.8",
      },
    }),
    ...(host === "next" && {
      "apps/web/src/app/api/trpc/[trpc]/route.ts": `import { appRouter } from "@shop/api/routers/index";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
export const GET = (req: Request) => fetchRequestHandler({ endpoint: "/api/trpc", req, router: appRouter });
`,
    }),
    "apps/web/src/utils/trpc.ts": `import type { AppRouter } from "@shop/api/routers/index";
import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";

export const queryClient = new QueryClient();

const trpcClient = createTRPCClient<AppRouter>({
  links: [
    httpBatchLink({
      url: \`\${import.meta.env.VITE_SERVER_URL}/trpc\`,
${session ? '      fetch: (url, options) => fetch(url, { ...options, credentials: "include" }),\n' : ""}    }),
  ],
});
`,
    "apps/web/src/main.tsx": `import { QueryClientProvider } from "@tanstack/react-query";

import { queryClient } from "./utils/trpc";

export function App({ children }: { children: React.ReactNode }) {
  return <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>;
}
`,
  };
}

const DRIZZLE: Files = {
  "packages/db/drizzle.config.ts": `import { defineConfig } from "drizzle-kit";

export default defineConfig({
  schema: "./src/schema/index.ts",
  dialect: "turso",
});
`,
  "packages/db/src/schema/index.ts": `export * from "./todo";
export {};
`,
  "packages/db/src/schema/todo.ts": `import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const todo = sqliteTable("todo", {
  id: integer("id").primaryKey(),
  text: text("text").notNull(),
});
`,
  "packages/db/src/index.ts": `import { createClient } from "@libsql/client";
import { drizzle } from "drizzle-orm/libsql";

export function createDb(env: { DATABASE_URL: string }) {
  return drizzle({ client: createClient({ url: env.DATABASE_URL }) });
}

export type Database = ReturnType<typeof createDb>;
`,
};

const PRISMA: Files = {
  "packages/db/prisma.config.ts": `import path from "node:path";
import { defineConfig } from "prisma/config";

export default defineConfig({
  schema: path.join("prisma", "schema"),
});
`,
  "packages/db/prisma/schema/schema.prisma": `generator client {
  provider = "prisma-client"
  output   = "../generated"
}

datasource db {
  provider = "postgresql"
}
`,
  "packages/db/prisma/schema/todo.prisma": "model Todo {\n  id Int @id\n}\n",
  "packages/db/src/index.ts": `import { PrismaPg } from "@prisma/adapter-pg";

import { PrismaClient } from "../prisma/generated/client";

export function createDb(env: { DATABASE_URL: string }) {
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: env.DATABASE_URL }) });
}

export type Database = ReturnType<typeof createDb>;
`,
};

const context = (
  imports: string,
  parameters: string,
) => `import type { Context as ApiContext } from "@shop/api/context";
${imports}
import { db } from "./services";

export async function createContext(${parameters}): Promise<ApiContext> {
  return {
    db,
  };
}
`;

const CONTEXTS = {
  hono: context(
    `import type { Context as HonoContext } from "hono";\n`,
    "_options: { context: HonoContext }",
  ),
  express: context(
    `import type { CreateExpressContextOptions } from "@trpc/server/adapters/express";\n`,
    "_opts: CreateExpressContextOptions",
  ),
  next: context(`import type { NextRequest } from "next/server";\n`, "_req: NextRequest"),
  start: context("", "{ req }: { req: Request }"),
};

/** Like create-t3-turbo: the package of the API makes the context, and exports little. */
export function turboMonorepo(): Files {
  return {
    "package.json": json({
      name: "turbo",
      private: true,
      packageManager: "pnpm@10.19.0",
      scripts: { "db:push": "turbo -F @acme/db push" },
    }),
    "pnpm-workspace.yaml":
      "packages:\n  - apps/*\n  - packages/*\n\ncatalog:\n  '@trpc/server': ^11.7.1\n  zod: ^4.1.12\n",
    "packages/api/package.json": json({
      name: "@acme/api",
      exports: { ".": { types: "./dist/index.d.ts", default: "./src/index.ts" } },
      dependencies: { "@acme/db": "workspace:*", "@trpc/server": "catalog:", zod: "catalog:" },
    }),
    "packages/api/src/index.ts": `export { type AppRouter, appRouter } from "./root";\n`,
    "packages/api/src/root.ts": `import { postRouter } from "./router/post";
import { createTRPCRouter } from "./trpc";

export const appRouter = createTRPCRouter({
  post: postRouter,
});

export type AppRouter = typeof appRouter;
`,
    "packages/api/src/trpc.ts": `import { initTRPC } from "@trpc/server";
import superjson from "superjson";
import { z, ZodError } from "zod/v4";

import { db } from "@acme/db/client";

export const createTRPCContext = async (opts: {
  headers: Headers;
}) => {
  return {
    db,
  };
};

const t = initTRPC.context<typeof createTRPCContext>().create({
  transformer: superjson,
  errorFormatter: ({ shape, error }) => ({
    ...shape,
    data: {
      ...shape.data,
      zodError: error.cause instanceof ZodError ? z.flattenError(error.cause) : null,
    },
  }),
});

export const createTRPCRouter = t.router;
`,
    "packages/db/package.json": json({
      name: "@acme/db",
      scripts: { push: "pnpm with-env drizzle-kit push" },
      exports: {
        "./client": { types: "./dist/client.d.ts", default: "./src/client.ts" },
        "./schema": { types: "./dist/schema.d.ts", default: "./src/schema.ts" },
      },
      dependencies: { "drizzle-orm": "^0.44.7" },
      devDependencies: { "drizzle-kit": "^0.31.5" },
    }),
    "packages/db/drizzle.config.ts": `export default {\n  schema: "./src/schema.ts",\n  dialect: "postgresql",\n};\n`,
    "packages/db/src/schema.ts": `import { pgTable } from "drizzle-orm/pg-core";

export const Post = pgTable("post", (t) => ({ id: t.uuid().primaryKey() }));
`,
    "packages/db/src/client.ts": `import { drizzle } from "drizzle-orm/node-postgres";

export const db = drizzle(process.env.POSTGRES_URL!);
`,
    "apps/nextjs/package.json": json({
      name: "@acme/nextjs",
      dependencies: {
        "@acme/api": "workspace:*",
        "@trpc/client": "catalog:",
        next: "^16.0.0",
        react: "catalog:react19",
      },
    }),
    "apps/nextjs/src/trpc/react.tsx": `"use client";

import { useState } from "react";
import { QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchStreamLink, loggerLink } from "@trpc/client";
import { createTRPCContext } from "@trpc/tanstack-react-query";
import SuperJSON from "superjson";

import type { AppRouter } from "@acme/api";

import { createQueryClient } from "./query-client";

export const { useTRPC, TRPCProvider } = createTRPCContext<AppRouter>();

export function TRPCReactProvider(props: { children: React.ReactNode }) {
  const queryClient = createQueryClient();

  const [trpcClient] = useState(() =>
    createTRPCClient<AppRouter>({
      links: [
        loggerLink(),
        httpBatchStreamLink({
          transformer: SuperJSON,
          url: "/api/trpc",
          headers() {
            return { "x-trpc-source": "nextjs-react" };
          },
        }),
      ],
    }),
  );

  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {props.children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}
`,
  };
}

/** The same monorepo on Cloudflare Workers, with Drizzle on D1. */
export function workersMonorepo(): Files {
  const files = monorepo();
  const server = JSON.parse(files["apps/server/package.json"]!) as {
    dependencies: Record<string, string>;
  };
  delete server.dependencies["@hono/node-server"];
  return {
    ...files,
    "apps/server/package.json": json({
      ...server,
      devDependencies: { "@cloudflare/workers-types": "^5.20260906.1" },
    }),
    "packages/db/src/index.ts": `import { drizzle } from "drizzle-orm/d1";

export function createDb(env: { DB: D1Database }) {
  return drizzle(env.DB);
}

export type Database = ReturnType<typeof createDb>;
`,
    "apps/server/src/services.ts": `import { type Database, createDb } from "@shop/db";
import { ENV } from "./env.server";

export function getDb(): Database {
  return createDb(ENV);
}
`,
  };
}
