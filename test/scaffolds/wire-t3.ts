/** Adds the limits of the package to an application of create-t3-app. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { editFile } from "./edit-file.js";

export type Orm = "prisma" | "drizzle";

const PRISMA_MODEL = `model RateLimit {
  name  String
  key   String @default("")
  shard Int    @default(0)
  value Float
  ts    Float

  @@id([name, key, shard])
}

model Post {`;

const DRIZZLE_TABLE = `export const rateLimits = createTable(
  "rate_limit",
  (d) => ({
    name: d.text().notNull(),
    key: d.text().notNull().default(""),
    shard: d.integer().notNull().default(0),
    value: d.real().notNull(),
    ts: d.real().notNull(),
  }),
  (t) => [primaryKey({ columns: [t.name, t.key, t.shard] })],
);

export const posts =`;

const PRISMA_LIMITS = `import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";

import { db } from "~/server/db";

const store = prismaStore(db);
`;

const DRIZZLE_LIMITS = `import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimiter, MINUTE } from "trpc-rate-limit/server";

import { db } from "~/server/db";
import { rateLimits } from "~/server/db/schema";

const store = drizzleStore(db, { table: rateLimits });
`;

const LIMITER = `
export const limiter = createRateLimiter({
  store,
  limits: {
    createPost: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  },
});
`;

export async function wireT3(root: string, orm: Orm): Promise<void> {
  const file = (path: string) => join(root, path);
  if (orm === "prisma") {
    await editFile(file("prisma/schema.prisma"), ["model Post {", PRISMA_MODEL]);
  } else {
    await editFile(
      file("src/server/db/schema.ts"),
      ["import { index, sqliteTableCreator }", "import { index, primaryKey, sqliteTableCreator }"],
      ["export const posts =", DRIZZLE_TABLE],
    );
  }
  const limits = (orm === "prisma" ? PRISMA_LIMITS : DRIZZLE_LIMITS) + LIMITER;
  await writeFile(file("src/server/api/limits.ts"), limits);
  await editFile(
    file("src/server/api/trpc.ts"),
    [
      'import { ZodError } from "zod";',
      `import { createRateLimitTRPC, formatRateLimitError } from "trpc-rate-limit/server";
import { ZodError } from "zod";

import { limiter } from "~/server/api/limits";`,
    ],
    ["return {\n      ...shape,", "const withZodError = {\n      ...shape,"],
    [
      /(?<=flatten\(\) : null,\s+\},\s+)\};\s+\},\s+\}\);/,
      `};
    return formatRateLimitError(withZodError, error, limiter);
  },
});

export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  t,
  limiter,
  key: ({ ctx }) => ctx.headers.get("x-forwarded-for") ?? "unknown",
});`,
    ],
  );
  await editFile(
    file("src/server/api/root.ts"),
    [
      "import { createCallerFactory, createTRPCRouter }",
      "import { createCallerFactory, createTRPCRouter, rateLimitRouter }",
    ],
    ["createTRPCRouter({", "createTRPCRouter({\n  rateLimit: rateLimitRouter,"],
  );
  await editFile(
    file("src/trpc/react.tsx"),
    ["import { httpBatchStreamLink, ", "import { httpBatchStreamLink, httpSubscriptionLink, "],
    ['loggerLink } from "@trpc/client";', 'loggerLink, splitLink } from "@trpc/client";'],
    [
      'import SuperJSON from "superjson";',
      `import SuperJSON from "superjson";
import { rateLimitLink } from "trpc-rate-limit/client";
import { createRateLimitReact } from "trpc-rate-limit/react";`,
    ],
    [
      "export const api = createTRPCReact<AppRouter>();",
      `export const api = createTRPCReact<AppRouter>();

export const { RateLimitProvider, RateLimitCountdown, useRateLimit, useRateLimitedMutation } =
  createRateLimitReact<AppRouter>();`,
    ],
    [
      "httpBatchStreamLink({",
      `rateLimitLink(),
        splitLink({
          condition: (op) => op.type === "subscription",
          true: httpSubscriptionLink({
            transformer: SuperJSON,
            url: getBaseUrl() + "/api/trpc",
          }),
          false: httpBatchStreamLink({`,
    ],
    [/(?<=return headers;\s+\},\s+\}\)),/, "}),"],
    [
      "{props.children}",
      "<RateLimitProvider client={trpcClient}>{props.children}</RateLimitProvider>",
    ],
  );
}
