/**
 * The code that `init` prints if the schema contains a user's plan, and its types in the place where it
 * is put.
 */
import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../docs/pages.js";
import { runInit } from "../../../support/run-init.js";
import { type Folder, makeFolder, openFolder } from "../../../support/scaffold.js";
import { type Files, packageJson } from "../../../support/trpc-applications.js";

/** An application like those of create-t3-app: its context has the session of a user. */
const app = (db: string, ...packages: string[]): Files => ({
  "package.json": packageJson("@trpc/server", "zod", ...packages),
  "tsconfig.json": `{
  "compilerOptions": {
    "target": "es2022",
    "module": "preserve",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "skipLibCheck": true,
    "noEmit": true,
    "types": ["node"],
    "paths": { "~/*": ["./src/*"] }
  },
  "include": ["src"]
}
`,
  "src/server/db/index.ts": db,
  "src/server/api/trpc.ts": `import { initTRPC } from "@trpc/server";
import { db } from "~/server/db";

export const createTRPCContext = async (opts: { headers: Headers }) => {
  const session: { user: { id: string } } | null = { user: { id: "1" } };
  return { db, session, ...opts };
};

const t = initTRPC.context<typeof createTRPCContext>().create();

export const createTRPCRouter = t.router;
export const publicProcedure = t.procedure;
`,
  "src/server/api/root.ts": `import { createTRPCRouter, publicProcedure } from "~/server/api/trpc";

export const appRouter = createTRPCRouter({ hello: publicProcedure.query(() => "hello") });
`,
});

const prisma = (models: string): Files => ({
  ...app(
    `import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "../../../generated/prisma/client";

const adapter = new PrismaPg(new pg.Pool());
export const db = new PrismaClient({ adapter });
`,
    "@prisma/client",
  ),
  "prisma.config.ts": `export default { schema: "prisma/schema.prisma" };\n`,
  "prisma/schema.prisma": `generator client {
  provider = "prisma-client"
  output   = "../generated/prisma"
}

datasource db {
  provider = "postgresql"
}

${models}
`,
});

const drizzle = (core: "pg" | "sqlite", driver: string, tables: string): Files => ({
  ...app(
    `import { drizzle } from "drizzle-orm/${driver}";

export const db = drizzle(process.env.DATABASE_URL!);
`,
    "drizzle-orm",
  ),
  "src/server/db/schema.ts": `import * as core from "drizzle-orm/${core}-core";\n${tables}\n`,
});

const USER = `enum Plan {
  FREE // of everybody
  STUDENT
  PRO

  @@map("plans")
}

model User {
  id   Int  @id @default(autoincrement())
  plan Plan @default(FREE)
}`;

const TEXT = `export const users = core.pgTable("users", {
  id: core.text().primaryKey(),
  plan: core.text(),
});`;

/** What `init` prints from the step on, as the author sees it without its indentation. */
async function stepIn(files: Files): Promise<string | undefined> {
  await using made = await makeFolder(files);
  return stepOf(await runInit(made.root));
}

const stepOf = (printed: string) =>
  /^\d+\. (give those who pay more, [\s\S]*)/m.exec(printed)?.[1]!.replaceAll("\n   ", "\n").trim();

/** Does what the step says, after `init`, and resolves with what the compiler says to it. */
async function compiled(files: Files): Promise<string> {
  await using parent = await makeFolder({});
  const root = join(parent.root, "app");
  const made = openFolder(root);
  for (const [file, text] of Object.entries(files)) await made.write(file, text);
  await mkdir(join(root, "node_modules"));
  await symlink(join(ROOT, "node_modules"), join(parent.root, "node_modules"));
  await symlink(ROOT, join(root, "node_modules/trpc-rate-limit"));

  const step = stepOf(await runInit(root));
  expect(step).toBeDefined();
  await obey(made, step!);
  if ("prisma/schema.prisma" in files) await run(root, "prisma/build/index.js", "generate");
  return await run(root, "typescript/bin/tsc", "-p", ".");
}

async function obey(made: Folder, step: string): Promise<void> {
  const [, imports, limit, options] =
    /\n\n([\s\S]*) {2}\/\/ In the place of the limit:\n([\s\S]*)\n {2}\/\/ Among the options of createRateLimiter:\n([\s\S]*)/.exec(
      step,
    )!;
  const file = "src/server/api/limits.ts";
  const text = await made.read(file);
  expect(text).not.toContain("plan");
  const edited = text
    .replace(/^ {2}createPost: .*\n/m, () => limit!)
    .replace("createRateLimiter({\n", (found) => `${found}${options!}\n`);
  await made.write(file, imports!.replace(/^ {2}/gm, "") + edited);
  await made.write(
    "src/server/api/use.ts",
    `import { limiter } from "./limits";
import { publicProcedure, rateLimited } from "./trpc";

export const create = publicProcedure.use(rateLimited("createPost")).mutation(() => "created");
await limiter.limit("createPost", { key: "user:1" });
// @ts-expect-error It is none of the plans.
await limiter.limit("createPost", { key: "user:1", plan: "none of them" });
`,
  );
}

async function run(cwd: string, script: string, ...args: string[]): Promise<string> {
  // Prisma looks for the binary, and generating does not run it.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath };
  const all = [join(ROOT, "node_modules", script), ...args];
  return promisify(execFile)(process.execPath, all, { cwd, env }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  );
}

it("says how the limiter gets its plans from an enum, and writes none of it", async () => {
  await using made = await makeFolder(prisma(USER));
  const step = stepOf(await runInit(made.root));
  expect(step).toMatchInlineSnapshot(`
    "give those who pay more, if plan of User in prisma/schema.prisma says who they are: in src/server/api/limits.ts, with your numbers (docs/guides/plans.md of trpc-rate-limit has more):

      // In the place of the limit:
        createPost: {
          kind: "token bucket",
          period: MINUTE,
          plans: {
            FREE: { rate: 10, capacity: 3 },
            STUDENT: { rate: 20, capacity: 6 },
            PRO: { rate: 30, capacity: 9 },
          },
        },

      // Among the options of createRateLimiter:
        plans: ["FREE", "STUDENT", "PRO"],
        // Asked once a minute for a key such as \`user:\${id}\`. All other keys are "FREE".
        plan: async ({ key = "" }) => {
          if (!key.startsWith("user:")) return "FREE";
          const found = await db.user.findUnique({
            where: { id: Number(key.slice(5)) },
            select: { plan: true },
          });
          return found?.plan ?? "FREE";
        },"
  `);
  for (const text of Object.values(await made.readAll())) expect(text).not.toContain("STUDENT:");
  expect(stepOf(await runInit(made.root))).toBeUndefined();
});

describe("what it says compiles where it says", { timeout: 90_000 }, () => {
  const team = (fields: string) => `model Team {\n  id BigInt @id\n  ${fields}\n}\n`;

  it.each([
    ["an enum of Prisma", prisma(USER), "return found?.plan ?? "],
    ["a text of Prisma", prisma(team("tier String?")), 'return found?.tier === "pro" ? '],
    [
      "a relation of Prisma",
      prisma(
        `${team("subscription Subscription?")}
model Subscription {
  id     Int    @id
  teamId BigInt @unique
  team   Team   @relation(fields: [teamId], references: [id])
}`,
      ),
      'return found?.subscription ? "pro" : "free";',
    ],
    [
      "an enum of Drizzle",
      drizzle(
        "pg",
        "node-postgres",
        `const createTable = core.pgTableCreator((name) => \`app_\${name}\`);
export const planEnum = core.pgEnum("plan", ["pro-yearly", "free"]);
export const users = createTable("user", (d) => ({
  id: d.varchar({ length: 255 }).notNull().primaryKey(),
  plan: planEnum().notNull().default("free"),
}));`,
      ),
      '"pro-yearly": { rate: 20, capacity: 6 },',
    ],
    [
      "a list of texts of Drizzle",
      drizzle(
        "sqlite",
        "libsql",
        `const TIERS = ["basic", "gold"] as const;
export const accounts = core.sqliteTable("accounts", {
  id: core.integer().primaryKey({ autoIncrement: true }),
  subscriptionTier: core.text({ enum: TIERS }),
});`,
      ),
      ".where(eq(accounts.id, Number(key.slice(8))));",
    ],
    [
      "a text of Drizzle",
      drizzle(
        "pg",
        "node-postgres",
        `export const customers = core.pgTable("customers", {
  id: core.uuid().primaryKey(),
  planId: core.text().references(() => plans.id),
});
export const plans = core.pgTable("plans", { id: core.text().primaryKey() });`,
      ),
      'return found?.planId === "pro" ? "pro" : "free";',
    ],
  ])("for %s", async (_, files, says) => {
    expect(await stepIn(files)).toContain(says);
    expect(await compiled(files)).toBe("");
  });
});

it("asks a database that the server hands over", async () => {
  const files = drizzle("pg", "node-postgres", TEXT);
  files["src/server/db/index.ts"] = `import { drizzle } from "drizzle-orm/node-postgres";
export async function connect() {
  return drizzle(await secretUrl());
}
`;
  files["src/server/main.ts"] =
    `import { connect } from "./db";\nexport const db = await connect();\n`;
  expect(await stepIn(files)).toContain("const [found] = await database!\n");
});

it.each([
  ["its package", "@app/db"],
  ["Drizzle, where it is from a file", "./operators"],
])("imports the comparison as the application does, from %s", async (_, from) => {
  const files = drizzle("pg", "node-postgres", TEXT);
  files["src/server/api/posts.ts"] = `import { eq } from "${from}";\n`;
  const imported = from.startsWith(".") ? "drizzle-orm" : from;
  expect(await stepIn(files)).toContain(`  import { eq } from "${imported}";\n`);
});

describe("it takes", () => {
  const modelOf = (name: string, ...fields: string[]) =>
    `model ${name} {\n  id String @id\n${fields.map((field) => `  ${field}\n`).join("")}}\n`;

  it.each([
    ["the user before a team", modelOf("Team", "plan String"), modelOf("User", "tier String")],
    ["an enum before others", USER.replace("  plan Plan", "  planId String\n  tier Plan")],
    ["an id of any name", modelOf("User", "tier String").replace("  id ", "  tier2 ")],
  ])("%s", async (_, ...models) => {
    expect(await stepIn(prisma(models.join("\n")))).toContain("if tier of User in prisma/");
  });

  it.each([
    ["a field of another service", modelOf("User", "stripeSubscriptionId String?")],
    ["a field that only begins so", modelOf("User", "planet String", "planEndsAt DateTime")],
    ["a model of something else", modelOf("Building", "plan String")],
    ["several plans", modelOf("User", "subscription String[]")],
    [
      "a key of several fields",
      "model User {\n  a Int\n  b Int\n  plan String\n  @@id([a, b])\n}\n",
    ],
    ["a comment", modelOf("User", "// plan String")],
  ])("not %s", async (_, models) => {
    expect(await stepIn(prisma(models))).toBeUndefined();
  });
});
