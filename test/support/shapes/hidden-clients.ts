/** Databases whose client no other file can import, or should not: their limits are printed. */
import { packageJson } from "../trpc-applications.js";
import { json, pnpmWorkspace, prismaSchema, WITH_ALIAS, workspacePackage } from "./parts.js";
import type { Files, Shape } from "./shape.js";

const QUERIES = `import "server-only";
import { eq } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { parcels } from "./schema";

const client = postgres(process.env.POSTGRES_URL!);
const db = drizzle(client);

export async function openParcel({ id }: { id: string }) {
  return await db.select().from(parcels).where(eq(parcels.id, id));
}
`;

const SYNCHRONOUS = `
export function deleteEverything() {
  return db.delete(parcels);
}
`;
const AWAITED = `
export async function countParcels({ below }: { below: number }) {
  return (await db.select().from(parcels)).length < below;
}
`;

const withQueries = (queries: string): Files => ({
  "package.json": packageJson("drizzle-orm", "next", "postgres", "react").replace(
    '"drizzle-orm": "*"',
    '"drizzle-orm": "^0.45.2"',
  ),
  "tsconfig.json": json({ compilerOptions: { strict: true, paths: { "@/*": ["./*"] } } }),
  "drizzle.config.ts": `import { defineConfig } from "drizzle-kit";

export default defineConfig({ schema: "./lib/db/schema.ts", dialect: "postgresql" });
`,
  "lib/db/schema.ts": `import { pgTable, text } from "drizzle-orm/pg-core";

export const parcels = pgTable("parcels", { id: text("id").primaryKey() });
`,
  "lib/db/queries.ts": queries,
  "app/page.tsx": `import { openParcel } from "@/lib/db/queries";

export default async function Page() {
  return <p>{(await openParcel({ id: "1" })).length}</p>;
}
`,
});

export const CLIENTS_OF_QUERIES: readonly Shape[] = [
  ["that deletes", SYNCHRONOUS],
  ["that counts", AWAITED],
].map(([what, last]) => ({
  name: `a client of Drizzle that is not exported, beside a function ${what}`,
  files: withQueries(QUERIES + last),
  right: {
    written: { "lib/db/schema.ts": ["export const rateLimits = pgTable("] },
    untouched: ["lib/db/queries.ts"],
    printed: [
      /By hand, in \S*limits\.ts \(/,
      "drizzleStore(db, { table: rateLimits })",
      `import { db } from "@/lib/db/queries"`,
    ],
    never: ["deleteEverything", "countParcels", "openParcel", "keepLimitsIn", "memoryStore"],
  },
}));

export const READ_REPLICAS: Shape = {
  name: "an API whose client of Prisma reads from replicas, and whose client links are its own",
  files: {
    "package.json": json({ name: "depot", private: true, packageManager: "pnpm@10.28.0" }),
    "pnpm-workspace.yaml": pnpmWorkspace(),
    "packages/database/package.json": workspacePackage("@depot/database", {
      "@prisma/client": "^6.19.0",
      "@prisma/extension-read-replicas": "^0.4.1",
    }),
    "packages/database/prisma/schema.prisma": prismaSchema("model Parcel {\n  id String @id\n}"),
    "packages/database/src/index.ts": `import { PrismaClient } from "@prisma/client";
import { readReplicas } from "@prisma/extension-read-replicas";
import { remember } from "./remember";

const primary = remember("primary", () => new PrismaClient());

export const withReplicas = remember("replicas", () =>
  primary.$extends(readReplicas({ url: process.env.REPLICA_URL! })),
) as unknown as typeof primary;

export { withReplicas as prisma };
`,
    "packages/database/src/remember.ts": `const kept = new Map<string, unknown>();

export function remember<T>(name: string, make: () => T): T {
  if (!kept.has(name)) kept.set(name, make());
  return kept.get(name) as T;
}
`,
    "packages/api/package.json": workspacePackage("@depot/api", {
      "@depot/database": "workspace:*",
      "@tanstack/react-query": "^5.90.0",
      "@trpc/client": "^11.8.0",
      "@trpc/react-query": "^11.8.0",
      "@trpc/server": "^11.8.0",
      react: "^19.2.0",
      zod: "^4.1.0",
    }),
    "packages/api/tsconfig.json": WITH_ALIAS,
    "packages/api/src/context.ts": `export type Context = (
  | { session: null; user: null }
  | { session: { id: string }; user: { id: number } }
) & {
  req: Request;
};
`,
    "packages/api/src/trpc.ts": `import { initTRPC } from "@trpc/server";
import type { Context } from "./context";

const t = initTRPC.context<Context>().create();

export const router = t.router;
export const procedure = t.procedure;
`,
    "packages/api/src/index.ts": `import { prisma } from "@depot/database";
import { procedure, router } from "./trpc";

export const appRouter = router({ count: procedure.query(() => prisma.parcel.count()) });

export type AppRouter = typeof appRouter;
`,
    "packages/api/src/react.tsx": `import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { httpBatchLink } from "@trpc/client";
import { createTRPCReact } from "@trpc/react-query";
import { type ReactNode, useState } from "react";
import type { AppRouter } from "./index";

export const trpc = createTRPCReact<AppRouter>();

export function TrpcProvider({ children }: { children: ReactNode }) {
  const [queryClient] = useState(() => new QueryClient());
  const [trpcClient] = useState(() =>
    trpc.createClient({ links: [httpBatchLink({ url: "/api/trpc" })] }),
  );
  return (
    <trpc.Provider client={trpcClient} queryClient={queryClient}>
      <QueryClientProvider client={queryClient}>{children}</QueryClientProvider>
    </trpc.Provider>
  );
}
`,
    "apps/web/package.json": workspacePackage("web", { "@depot/api": "workspace:*", next: "16" }),
    // The session of a page has a user, and that of the context has none.
    "apps/web/src/greeting.tsx": `import { useSession } from "./session";

export const Greeting = () => <p>{useSession().session.user.name}</p>;
`,
    "apps/web/src/session.ts": `export const useSession = () => ({ session: { user: { name: "you" } } });
`,
  },
  right: {
    written: { "packages/database/prisma/schema.prisma": ["model RateLimit {"] },
    untouched: ["packages/api/src/trpc.ts", "packages/database/src/index.ts"],
    printed: [
      /By hand, in packages\/api\/src\/limits\.ts \(/,
      "packages/database/src/index.ts",
      "By hand, in packages/api/src/react.tsx",
      "rateLimitLink<AppRouter>({",
      "ctx.user ? `user:${ctx.user.id}` : ipKey(clientAddress(ctx.req.headers))",
    ],
    // A statement of the limiter writes, and a replica refuses it.
    never: ["prismaStore(withReplicas", "ctx.address"],
  },
};
