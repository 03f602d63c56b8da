/**
 * A workspace with one application, which has the tRPC, and with the package of its database. Nothing
 * else uses the tRPC.
 */
import {
  json,
  MAPPED_MODEL,
  NPM,
  pnpmWorkspace,
  prismaSchema,
  WITH_ALIAS,
  workspacePackage,
} from "./parts.js";
import type { Files, Shape } from "./shape.js";

const WEB: Files = {
  "apps/web/package.json": json({
    name: "web",
    type: "module",
    dependencies: {
      "@depot/database": "workspace:*",
      "@trpc/server": "^11.8.0",
      next: "16.1.0",
      // The application lists the database's packages, too, as bundlers ask for it.
      "@prisma/adapter-pg": "^7.8.0",
      "@prisma/client": "^7.8.0",
      pg: "^8.17.1",
      zod: "^4.3.6",
    },
  }),
  "apps/web/tsconfig.json": WITH_ALIAS,
  "apps/web/src/trpc/context.ts": `export type Context = {
  userId?: string;
};
`,
  "apps/web/src/trpc/trpc.ts": `import { prisma } from "@depot/database";
import { initTRPC } from "@trpc/server";
import type { Context } from "./context";

const t = initTRPC.context<Context>().create();

export const router = t.router;

export const publicProcedure = t.procedure.use(async ({ next }) => {
  await prisma.parcel.count();
  return next();
});
`,
  "apps/web/src/trpc/router.ts": `import { publicProcedure, router } from "./trpc";

export const appRouter = router({ health: publicProcedure.query(() => "well") });

export type AppRouter = typeof appRouter;
`,
  "apps/web/src/app/api/trpc/[trpc]/route.ts": `import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import type { NextRequest } from "next/server";
import { appRouter } from "@/trpc/router";

const handler = (req: NextRequest) =>
  fetchRequestHandler({
    endpoint: "/api/trpc",
    req,
    router: appRouter,
    createContext: () => ({ userId: req.cookies.get("user")?.value }),
  });

export { handler as GET, handler as POST };
`,
};

const ROOT: Files = {
  "package.json": json({
    name: "depot",
    private: true,
    packageManager: "pnpm@10.28.0",
    scripts: {
      "db:generate": "pnpm --filter @depot/database exec prisma generate",
      "db:migrate": "pnpm --filter @depot/database exec prisma migrate dev",
    },
    devDependencies: { prisma: "^7.8.0", typescript: "^6.0.3" },
  }),
  "pnpm-workspace.yaml": pnpmWorkspace(),
};

const DATABASE: Files = {
  "packages/database/package.json": json({
    name: "@depot/database",
    private: true,
    exports: { ".": "./src/client.ts" },
    dependencies: { "@prisma/adapter-pg": "^7.8.0", "@prisma/client": "^7.8.0", pg: "^8.17.1" },
    devDependencies: { prisma: "^7.8.0" },
  }),
  "packages/database/prisma/schema.prisma": prismaSchema(MAPPED_MODEL),
  "packages/database/src/client.ts": `import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client";

const globalForPrisma = globalThis as unknown as { prisma?: PrismaClient };

export const prisma =
  globalForPrisma.prisma ??
  new PrismaClient({
    adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }),
  });

if (process.env.NODE_ENV !== "production") {
  globalForPrisma.prisma = prisma;
}

export default prisma;
`,
};

/** A second way to the database, or a memory in which each process counts for itself. */
const OTHER_STORES = ["memoryStore", "pgStore", "new pg.Pool", "CREATE TABLE", "psql"];

export const DATABASE_PACKAGE: Shape = {
  name: "one application with tRPC, and a package with its database",
  files: { ...ROOT, ...WEB, ...DATABASE },
  places: ["", "apps/web", "apps/web/src/trpc", "packages/database"],
  right: {
    written: {
      "apps/web/package.json": [`"trpc-rate-limit": "^1.2.3"`],
      "packages/database/prisma/schema.prisma": ["model RateLimit {", "model RateLimitOverride {"],
      "apps/web/src/trpc/limits.ts": [
        `import { prisma } from "@depot/database";`,
        `prismaStore(prisma, { pool: "own" })`,
        "globalForLimiter",
      ],
      "apps/web/src/trpc/trpc.ts": ["ctx.userId ? `user:${ctx.userId}` : ipKey(ctx.address)"],
      "apps/web/src/trpc/router.ts": ["rateLimit: rateLimitRouter"],
      "apps/web/src/app/api/trpc/[trpc]/route.ts": ["responseMeta: rateLimitResponseMeta"],
    },
    untouched: ["package.json", "packages/database/package.json"],
    printed: [/^1\. pnpm install$/m, "pnpm run db:migrate", "pnpm run db:generate"],
    // `pnpm add` is refused at the root of a workspace.
    never: [...OTHER_STORES, NPM, "pnpm add"],
  },
};

export const BUILT_DATABASE_PACKAGE: Shape = {
  name: "one application with tRPC, and a package that is built, with a client that a class makes",
  files: {
    ...ROOT,
    ...Object.fromEntries(
      Object.entries(WEB).map(([file, text]) => [
        file,
        text.replace(`from "@depot/database"`, `from "@depot/database/src/db"`),
      ]),
    ),
    "packages/database/package.json": workspacePackage(
      "@depot/database",
      { "@prisma/client": "^6.19.3" },
      {
        main: "./dist/src/index.js",
        exports: { "./src/db": "./dist/src/db.js", "./src/server": "./dist/src/server/index.js" },
        devDependencies: { prisma: "^6.19.3" },
      },
    ),
    "packages/database/prisma/schema.prisma": prismaSchema(MAPPED_MODEL),
    "packages/database/src/db.ts": `import { PrismaClient } from "@prisma/client";

class Clients {
  private static instance: PrismaClient;

  public static getInstance(): PrismaClient {
    Clients.instance ??= new PrismaClient({ log: ["error"] });
    return Clients.instance;
  }
}

declare const globalThis: { prismaGlobal: PrismaClient | undefined } & typeof global;

export const prisma = globalThis.prismaGlobal ?? Clients.getInstance();

export * from "@prisma/client";
`,
  },
  places: ["", "apps/web"],
  right: {
    written: {
      // The application imports the client by this specifier already.
      "apps/web/src/trpc/limits.ts": [
        `import { prisma } from "@depot/database/src/db";`,
        "prismaStore(prisma)",
      ],
      "packages/database/prisma/schema.prisma": ["model RateLimit {"],
    },
    untouched: ["packages/database/src/db.ts"],
    printed: [/^1\. pnpm install$/m],
    never: [...OTHER_STORES, NPM, "pnpm add"],
  },
};

export const PLANETSCALE_WORKSPACE: Shape = {
  name: "a workspace whose one application is on PlanetScale",
  files: {
    "package.json": json({ name: "depot", private: true, packageManager: "pnpm@9.15.9" }),
    "pnpm-workspace.yaml": pnpmWorkspace(),
    "apps/web/package.json": json({
      name: "web",
      dependencies: { "@planetscale/database": "1.19.0", "@prisma/client": "6.19.1", next: "15" },
    }),
    "packages/tsconfig/package.json": json({ name: "@depot/tsconfig", files: ["base.json"] }),
    "packages/ui/package.json": json({ name: "@depot/ui", dependencies: { react: "19" } }),
  },
  places: ["", "apps/web"],
  // A package with settings of TypeScript is no application.
  right: { refused: /^(?!.*packages\/(?:tsconfig|ui)).*(?:PlanetScale|apps\/web)/s },
};
