/** A workspace with one application, which has all of tRPC, and a package with the database. */
type Files = Record<string, string>;

const json = (value: unknown) => `${JSON.stringify(value, undefined, 2)}\n`;

const MODELS = `model User {
  id        String @id
  createdAt DateTime @map("created_at")

  @@map("users")
}

model PollOption {
  id String @id

  @@map("poll_options")
}
`;

export function applicationWithDatabase(more: Files = {}): Files {
  return {
    "package.json": json({
      name: "root",
      private: true,
      packageManager: "pnpm@10.28.0",
      scripts: {
        "db:generate": "pnpm --filter @poll/database exec prisma generate",
        "db:migrate": "pnpm --filter @poll/database exec prisma migrate dev",
        "db:push": "pnpm --filter @poll/database exec prisma db push",
      },
      devDependencies: { prisma: "^7.8.0", turbo: "^2.6.3" },
    }),
    "pnpm-workspace.yaml": "packages:\n  - apps/*\n  - packages/*\n",
    "apps/web/package.json": json({
      name: "@poll/web",
      dependencies: {
        "@poll/database": "workspace:*",
        "@trpc/server": "^11.8.0",
        next: "^16.0.0",
        pg: "^8.17.1",
        zod: "^4.3.6",
      },
    }),
    "apps/web/tsconfig.json": `{ "compilerOptions": { "paths": { "@/*": ["./src/*"] } } }\n`,
    "apps/web/src/trpc/trpc.ts": `import { prisma } from "@poll/database/db";
import { initTRPC } from "@trpc/server";

export const createTRPCContext = async (opts: { headers: Headers }) => ({ prisma, ...opts });

const t = initTRPC.context<typeof createTRPCContext>().create();

export const { router, procedure: publicProcedure } = t;
`,
    "packages/database/package.json": json({
      name: "@poll/database",
      exports: { "./db": "./dist/client.js" },
      scripts: { "db:migrate": "prisma migrate dev --skip-generate" },
      dependencies: { "@prisma/client": "^7.8.0" },
    }),
    "packages/database/tsconfig.json": "{}\n",
    "packages/database/prisma/schema.prisma": `datasource db {\n  provider = "postgresql"\n}\n`,
    "packages/database/prisma/models/user.prisma": MODELS,
    "packages/database/prisma/migrations/migration_lock.toml": `provider = "postgresql"\n`,
    "packages/database/prisma.config.ts": `export default { schema: path.join(__dirname, "prisma") };\n`,
    "packages/database/src/client.ts": `import { PrismaClient } from "../generated/client";

export const prisma = globalThis.prisma ?? new PrismaClient({ adapter });
`,
    "packages/tsconfig/package.json": json({ name: "@poll/tsconfig" }),
    ...more,
  };
}
