/** Contexts that are made in the file of `initTRPC` itself. */
import { bunPackage, json, NPM, POOL, prismaSchema, WITH_ALIAS } from "./parts.js";
import type { Shape } from "./shape.js";

export const HONO_ON_BUN: Shape = {
  name: "a context of Hono on Bun, made in the file of tRPC",
  files: {
    "package.json": bunPackage({
      "@hono/trpc-server": "^0.4.0",
      "@trpc/server": "^11.8.0",
      hono: "^4.12.0",
      pg: "^8.16.0",
      zod: "^4.1.0",
    }),
    "tsconfig.json": WITH_ALIAS,
    "src/db.ts": POOL,
    "src/trpc/init.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "hono";
import { sessionOf, type Session } from "../session";

type TRPCContext = {
  session: Session | null;
  requestId: string;
};

export const createTRPCContext = async (_: unknown, c: Context): Promise<TRPCContext> => {
  const session = await sessionOf(c.req.header("cookie"));

  return {
    session,
    requestId: crypto.randomUUID(),
  };
};

const t = initTRPC.context<TRPCContext>().create();

export const createTRPCRouter = t.router;

export const publicProcedure = t.procedure;
`,
    "src/session.ts": `export interface Session {
  user: { id: string };
}

export async function sessionOf(cookie: string | undefined): Promise<Session | null> {
  return cookie === undefined ? null : { user: { id: cookie } };
}
`,
    "src/trpc/router.ts": `import { createTRPCRouter, publicProcedure } from "./init";

export const appRouter = createTRPCRouter({
  whoAmI: publicProcedure.query(({ ctx }) => ctx.session?.user.id),
});

export type AppRouter = typeof appRouter;
`,
    "src/index.ts": `import { trpcServer } from "@hono/trpc-server";
import { Hono } from "hono";
import { createTRPCContext } from "./trpc/init";
import { appRouter } from "./trpc/router";

const app = new Hono();
app.use("/trpc/*", trpcServer({ router: appRouter, createContext: createTRPCContext }));

export default { port: 3000, fetch: app.fetch };
`,
  },
  right: {
    written: {
      "src/trpc/init.ts": [
        "address?: string | undefined",
        // Without the connection, all visitors of a server without a proxy share one bucket.
        "address: clientAddress(c.req.raw.headers, { connection: getConnInfo(c).remote.address })",
        /import \{ getConnInfo \} from ["']hono\/bun["']/,
        "ctx.session?.user ? `user:${ctx.session.user.id}` : ipKey(ctx.address)",
      ],
      "src/index.ts": ["responseMeta: rateLimitResponseMeta"],
    },
    printed: [/^1\. bun install$/m],
    never: [NPM, "@hono/node-server"],
  },
};

/** Next, with a context that `cache` of React keeps for one request, and that takes no request. */
export const CACHED_CONTEXT: Shape = {
  name: "a context without parameters that is kept for a request, made in the file of tRPC",
  files: {
    "package.json": json({
      name: "depot",
      packageManager: "pnpm@9.15.0",
      scripts: {
        "db:generate": "pnpm dlx prisma generate",
        "db:push": "pnpm dlx prisma migrate dev",
      },
      dependencies: {
        "@prisma/client": "^6.19.0",
        "@trpc/server": "^11.8.0",
        "@trpc/tanstack-react-query": "^11.8.0",
        next: "^16.1.0",
        react: "^19.2.0",
        zod: "^4.1.0",
      },
    }),
    "tsconfig.json": WITH_ALIAS,
    "prisma/schema.prisma": prismaSchema("model Parcel {\n  id String @id\n}"),
    "src/lib/db.ts": `import { PrismaClient } from "@prisma/client";

const kept = global as unknown as { prisma: PrismaClient };

const prisma = kept.prisma || new PrismaClient();

if (process.env.NODE_ENV !== "production") kept.prisma = prisma;

export default prisma;
`,
    "src/lib/auth.ts": `import { cookies } from "next/headers";

export async function auth() {
  return { userId: (await cookies()).get("user")?.value };
}
`,
    "src/trpc/init.ts": `import { cache } from "react";
import { initTRPC, TRPCError } from "@trpc/server";
import { auth } from "@/lib/auth";

export const createTRPCContext = cache(async () => {
  return { auth: await auth() };
});

export type TRPCContext = Awaited<ReturnType<typeof createTRPCContext>>;

const t = initTRPC.context<TRPCContext>().create();

export const createTRPCRouter = t.router;

export const protectedProcedure = t.procedure.use(({ ctx, next }) => {
  if (ctx.auth.userId === undefined) throw new TRPCError({ code: "UNAUTHORIZED" });
  return next();
});
`,
    "src/trpc/routers/_app.ts": `import prisma from "@/lib/db";
import { createTRPCRouter, protectedProcedure } from "../init";

export const appRouter = createTRPCRouter({
  send: protectedProcedure.mutation(() => prisma.parcel.create({ data: { id: "1" } })),
});

export type AppRouter = typeof appRouter;
`,
    "src/trpc/server.tsx": `import "server-only";
import { createTRPCContext } from "./init";
import { appRouter } from "./routers/_app";

export const caller = appRouter.createCaller(createTRPCContext);
`,
    "src/app/api/trpc/[trpc]/route.ts": `import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { createTRPCContext } from "@/trpc/init";
import { appRouter } from "@/trpc/routers/_app";

const handler = (req: Request) =>
  fetchRequestHandler({
    endpoint: "/api/trpc",
    req,
    router: appRouter,
    createContext: createTRPCContext,
  });

export { handler as GET, handler as POST };
`,
  },
  right: {
    written: {
      "src/trpc/init.ts": [
        "address: clientAddress(await headers())",
        /import \{ headers \} from ["']next\/headers["']/,
        "ctx.auth?.userId ? `user:${ctx.auth.userId}` : ipKey(ctx.address)",
      ],
      "src/trpc/limits.ts": [`import prisma from "@/lib/db";`, "prismaStore(prisma)"],
    },
    untouched: ["src/trpc/server.tsx", "src/lib/db.ts"],
    // What the scripts run says which one is the migration.
    printed: [/\d\. pnpm run db:push/, "protectedProcedure"],
    never: ["run db:generate (or", "create: t.procedure", NPM],
  },
};
