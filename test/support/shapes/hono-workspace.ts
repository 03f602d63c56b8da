/** An API in a package of its own, which `apps/server` serves by Hono on Node.js. */
import { DRIZZLE_PACKAGE, json, pnpmWorkspace, workspacePackage } from "./parts.js";
import type { Files, Shape } from "./shape.js";

/** @param fields more fields of the context, each with a comma. */
export function honoWorkspace(fields = "", lines = ""): Files {
  return {
    "package.json": json({ name: "depot", private: true, packageManager: "pnpm@10.28.0" }),
    "pnpm-workspace.yaml": pnpmWorkspace(),
    ...DRIZZLE_PACKAGE,
    "packages/api/package.json": workspacePackage("@depot/api", {
      "@depot/db": "workspace:*",
      "@trpc/server": "^11.8.0",
      hono: "^4.12.0",
      zod: "^4.1.0",
    }),
    "packages/api/src/index.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "./context";

export const t = initTRPC.context<Context>().create();

export const router = t.router;

export const publicProcedure = t.procedure;
`,
    "packages/api/src/session.ts": `export async function sessionOf(headers: Headers) {
  const id = headers.get("x-user");
  return id === null ? null : { user: { id } };
}
`,
    "packages/api/src/context.ts": `import type { Context as HonoContext } from "hono";
import { sessionOf } from "./session";

export type CreateContextOptions = {
  context: HonoContext;
};

export async function createContext({ context }: CreateContextOptions) {
${lines}  return {
    session: await sessionOf(context.req.raw.headers),
${fields}  };
}

export type Context = Awaited<ReturnType<typeof createContext>>;
`,
    "packages/api/src/routers/index.ts": `import { publicProcedure, router } from "../index";

export const appRouter = router({
  whoAmI: publicProcedure.query(({ ctx }) => ctx.session?.user.id ?? "a visitor"),
});

export type AppRouter = typeof appRouter;
`,
    "apps/server/package.json": json({
      name: "server",
      type: "module",
      dependencies: {
        "@depot/api": "workspace:*",
        "@hono/node-server": "^1.14.4",
        "@hono/trpc-server": "^0.4.0",
        hono: "^4.12.0",
      },
    }),
    "apps/server/src/index.ts": `import { createContext } from "@depot/api/context";
import { appRouter } from "@depot/api/routers/index";
import { serve } from "@hono/node-server";
import { trpcServer } from "@hono/trpc-server";
import { Hono } from "hono";

const app = new Hono();

app.use(
  "/trpc/*",
  trpcServer({
    router: appRouter,
    createContext: (_opts, context) => createContext({ context }),
  }),
);

serve({ fetch: app.fetch, port: 3000 });
`,
  };
}

const CONNECTION = /import \{ getConnInfo \} from ["']@hono\/node-server\/conninfo["']/;

export const HONO_ON_NODE: Shape = {
  name: "an API in a package, served by Hono on Node.js in another one",
  files: honoWorkspace(),
  places: ["", "packages/api", "apps/server"],
  right: {
    written: {
      "packages/api/src/index.ts": [
        "ctx.session?.user ? `user:${ctx.session.user.id}` : ipKey(ctx.address)",
      ],
      "packages/api/src/limits.ts": ["drizzleStore(db, { table: rateLimits })"],
      "apps/server/src/index.ts": ["responseMeta: rateLimitResponseMeta"],
    },
    // Its package has to list the server of Node.js, as the check of all imports asks.
    somewhere: [CONNECTION],
    // On Node.js, it ends the server with "Bun is not defined".
    never: ["hono/bun"],
  },
};

/** What visitors can choose, under the names by which contexts have an address. */
const CHOSEN = {
  clientIp: `context.req.header("x-forwarded-for")?.split(",")[0]?.trim() ?? "unknown"`,
  ip: `context.req.header("x-forwarded-for") ?? "unknown"`,
  ipAddress: `context.req.header("x-real-ip") ?? context.req.header("x-client-ip")`,
};

export const CHOSEN_ADDRESSES: readonly Shape[] = Object.entries(CHOSEN).map(([name, value]) => ({
  name: `a context whose ${name} is what visitors have sent`,
  files: honoWorkspace(`    ${name},\n`, `  const ${name} = ${value};\n`),
  right: {
    written: { "packages/api/src/index.ts": ["ipKey(ctx.address)"] },
    somewhere: [CONNECTION],
    never: [`ctx.${name}`],
  },
}));
