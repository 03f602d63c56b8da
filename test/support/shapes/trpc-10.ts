/** An application on tRPC 10: the entry points for tRPC do not work there, and those for HTTP do. */
import { json, prismaSchema, WITH_ALIAS } from "./parts.js";
import type { Shape } from "./shape.js";

const WIRED = [
  "src/server/trpc.ts",
  "src/server/router.ts",
  "src/pages/api/trpc/[trpc].ts",
  "src/utils/trpc.ts",
];

export const TRPC_10: Shape = {
  name: "tRPC 10",
  files: {
    "package.json": json({
      name: "depot",
      dependencies: {
        "@prisma/client": "^6.19.0",
        "@tanstack/react-query": "^4.36.1",
        "@trpc/client": "^10.45.2",
        "@trpc/server": "^10.45.2",
        next: "^14.2.0",
        react: "^18.3.0",
        zod: "^3.22.0",
      },
    }),
    "tsconfig.json": WITH_ALIAS,
    "prisma/schema.prisma": prismaSchema("model Parcel {\n  id String @id\n}"),
    "src/server/db.ts": `import { PrismaClient } from "@prisma/client";

export const prisma = new PrismaClient();
`,
    "src/server/trpc.ts": `import { initTRPC } from "@trpc/server";
import type { CreateNextContextOptions } from "@trpc/server/adapters/next";
import { prisma } from "@/server/db";

export const createContext = ({ req }: CreateNextContextOptions) => ({
  prisma,
  userId: req.cookies.user,
});

const t = initTRPC.context<typeof createContext>().create();

export const router = t.router;

export const publicProcedure = t.procedure;
`,
    "src/server/router.ts": `import { publicProcedure, router } from "./trpc";

export const appRouter = router({
  send: publicProcedure.mutation(({ ctx }) => ctx.prisma.parcel.create({ data: { id: "1" } })),
});

export type AppRouter = typeof appRouter;
`,
    "src/pages/api/trpc/[trpc].ts": `import { createNextApiHandler } from "@trpc/server/adapters/next";
import { appRouter } from "@/server/router";
import { createContext } from "@/server/trpc";

export default createNextApiHandler({ router: appRouter, createContext });
`,
    "src/utils/trpc.ts": `import { createTRPCProxyClient, httpBatchLink } from "@trpc/client";
import type { AppRouter } from "@/server/router";

export const trpc = createTRPCProxyClient<AppRouter>({
  links: [httpBatchLink({ url: "/api/trpc" })],
});
`,
  },
  right: {
    written: {
      "prisma/schema.prisma": ["model RateLimit {"],
      "src/server/limits.ts": ["prismaStore(prisma"],
    },
    untouched: WIRED,
    printed: [/tRPC 1[01]/, "trpc-rate-limit/server", "limiter.limit("],
    never: [
      /from "trpc-rate-limit\/(?:trpc|client|react)"/,
      "createRateLimitTRPC",
      "useRateLimit(",
      // npm ends with ERESOLVE, at each install: the optional peers are of another major version.
      /npm (?:install|i)(?: trpc-rate-limit)?$/m,
    ],
  },
};
