/** Small applications with tRPC that were not scaffolded, one for each host. */

export type Files = Record<string, string>;

export const packageJson = (...names: string[]) =>
  `${JSON.stringify({ name: "app", type: "module", dependencies: Object.fromEntries(names.map((name) => [name, "*"])) }, undefined, 2)}\n`;

export interface ApplicationOptions {
  packages?: string[];
  /** The file of the context. */
  context: string;
  /** The file of the handler. */
  server: string;
  more?: Files;
}

/** An application with an API on a pool of `pg`, and a page in React. */
export function application({
  packages = [],
  context,
  server,
  more = {},
}: ApplicationOptions): Files {
  return {
    "package.json": packageJson("@trpc/client", "@trpc/server", "pg", "react", ...packages),
    "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2022",
    "module": "preserve",
    "jsx": "react-jsx",
    "strict": true,
    "noEmit": true,
    "types": ["node"]
  },
  "include": ["src"]
}
`,
    "src/db.ts": `import pg from "pg";\n\nexport const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });\n`,
    "src/context.ts": context,
    "src/trpc.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "./context";

export const t = initTRPC.context<Context>().create();

export const publicProcedure = t.procedure;
`,
    "src/router.ts": `import { publicProcedure, t } from "./trpc";

export const appRouter = t.router({ hello: publicProcedure.query(() => "hello") });

export type AppRouter = typeof appRouter;
`,
    "src/server.ts": server,
    "src/client.tsx": `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import type { AppRouter } from "./router";

const queries = new QueryClient();
export const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: "/trpc" })] });

export const App = () => <QueryClientProvider client={queries}>hello</QueryClientProvider>;
`,
    ...more,
  };
}

const contextOf = (from: string, type: string, parameter: string, fields = "pool") =>
  `import type { ${type} } from "${from}";
import { pool } from "./db";

export function createContext(${parameter}) {
  return { ${fields} };
}

export type Context = Awaited<ReturnType<typeof createContext>>;
`;

export const EXPRESS: ApplicationOptions = {
  packages: ["express"],
  context: contextOf(
    "@trpc/server/adapters/express",
    "CreateExpressContextOptions",
    "{ res }: CreateExpressContextOptions",
  ),
  server: `import { createExpressMiddleware } from "@trpc/server/adapters/express";
import express from "express";
import { createContext } from "./context";
import { appRouter } from "./router";

const app = express();
app.use("/trpc", createExpressMiddleware({ router: appRouter, createContext }));
app.listen(4000);
`,
};

export const HOSTS: {
  host: string;
  options: ApplicationOptions;
  context: string[];
  server: string;
  url: string;
}[] = [
  {
    host: "Express",
    options: EXPRESS,
    context: ["({ req, res }: CreateExpressContextOptions)", "{ address: req.ip, pool }"],
    server:
      "createExpressMiddleware({ router: appRouter, responseMeta: rateLimitResponseMeta, createContext })",
    url: "http://localhost:4000/trpc",
  },
  {
    host: "Fastify",
    options: {
      packages: ["fastify"],
      context: contextOf(
        "@trpc/server/adapters/fastify",
        "CreateFastifyContextOptions",
        "opts: CreateFastifyContextOptions",
      ),
      server: `import { fastifyTRPCPlugin, type FastifyTRPCPluginOptions } from "@trpc/server/adapters/fastify";
import fastify from "fastify";
import { createContext } from "./context";
import { appRouter, type AppRouter } from "./router";

const server = fastify();
server.register(fastifyTRPCPlugin, {
  prefix: "/trpc",
  trpcOptions: {
    router: appRouter,
    createContext,
  } satisfies FastifyTRPCPluginOptions<AppRouter>["trpcOptions"],
});
await server.listen({ port: 3001 });
`,
    },
    context: ["{ address: opts.req.ip, pool }"],
    server: "    router: appRouter,\n    responseMeta: rateLimitResponseMeta,\n",
    url: "http://localhost:3001/trpc",
  },
  {
    host: "Node.js alone",
    options: {
      context: contextOf(
        "@trpc/server/adapters/standalone",
        "CreateHTTPContextOptions",
        "_: CreateHTTPContextOptions",
      ),
      server: `import { createHTTPServer } from "@trpc/server/adapters/standalone";
import { createContext } from "./context";
import { appRouter } from "./router";

createHTTPServer({ router: appRouter, createContext }).listen(3000);
`,
    },
    context: [
      "createContext({ req }: CreateHTTPContextOptions)",
      "address: clientAddress(req.headers, { connection: req.socket.remoteAddress }), pool",
    ],
    server: "{ router: appRouter, responseMeta: rateLimitResponseMeta, createContext }",
    url: "http://localhost:3000",
  },
  {
    host: "Hono",
    options: {
      packages: ["@hono/node-server", "@hono/trpc-server", "hono"],
      context: contextOf(
        "@trpc/server/adapters/fetch",
        "FetchCreateContextFnOptions",
        "{ req }: FetchCreateContextFnOptions",
      ),
      server: `import { serve } from "@hono/node-server";
import { trpcServer } from "@hono/trpc-server";
import { Hono } from "hono";
import { createContext } from "./context";
import { appRouter } from "./router";

const app = new Hono();
app.use("/trpc/*", trpcServer({ router: appRouter, createContext }));
serve({ fetch: app.fetch, port: 3000 });
`,
    },
    context: [
      'import { clientAddress } from "trpc-rate-limit/server";',
      "{ address: clientAddress(req.headers), pool }",
    ],
    server: "{ router: appRouter, responseMeta: rateLimitResponseMeta, createContext }",
    url: "http://localhost:3000/trpc",
  },
];
