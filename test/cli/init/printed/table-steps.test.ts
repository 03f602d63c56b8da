/** The commands that change the database: those that the application's own scripts run. */
import { expect, it } from "vitest";
import { prisma, TABLES } from "../../../support/odd-project.js";
import { initIn } from "../../../support/run-init.js";

const LOCK = { "prisma/migrations/migration_lock.toml": `provider = "postgresql"\n` };
const JOURNAL = { "drizzle/meta/_journal.json": "{}\n" };

const manifest = (scripts: Record<string, string>, name: string, packageManager = "npm@11.0.0") =>
  JSON.stringify({ packageManager, scripts, dependencies: { [name]: "^7.0.0" } }, undefined, 2);

async function stepsIn(files: Record<string, string | Buffer>): Promise<string[]> {
  await using app = await initIn(files as Record<string, string>);
  return [...app.printed.slice(app.printed.indexOf("\nNext:")).matchAll(/^\d\. (.*)$/gm)].map(
    ([, step]) => step!,
  );
}

it.each<[string, Record<string, string>, object, string[]]>([
  [
    "a script db:generate that migrates",
    { "db:generate": "prisma migrate dev", "db:push": "prisma db push" },
    LOCK,
    ["npm run db:generate", "npx prisma generate"],
  ],
  [
    "a script db:generate that generates",
    { "db:generate": "prisma generate", "db:migrate": "prisma migrate deploy" },
    LOCK,
    ["npx prisma migrate dev --name rate-limit", "npm run db:generate"],
  ],
  [
    "a script db:push that migrates",
    { "db:generate": "prisma generate", "db:push": "prisma migrate dev" },
    LOCK,
    ["npm run db:push", "npm run db:generate"],
  ],
  [
    "no migrations yet",
    { "db:push": "prisma db push", "db:migrate": "dotenv -e .env -- prisma migrate dev" },
    {},
    ["npm run db:push (or npm run db:migrate)", "npx prisma generate"],
  ],
  [
    "scripts that do more",
    { postinstall: "prisma generate", setup: "prisma generate && prisma migrate dev" },
    LOCK,
    ["npx prisma migrate dev --name rate-limit", "npx prisma generate"],
  ],
])("for Prisma with %s", async (_, scripts, more, steps) => {
  const files = prisma({ ...more, "package.json": manifest(scripts, "@prisma/client") });
  expect((await stepsIn(files)).slice(1, 3)).toEqual(steps);
});

it.each<[string, Record<string, string>, object, string]>([
  [
    "scripts of both steps",
    { "db:generate": "drizzle-kit generate", "db:migrate": "npx tsx lib/migrate.ts" },
    JOURNAL,
    "npm run db:generate && npm run db:migrate",
  ],
  [
    "no migrations yet",
    {
      "db:generate": "drizzle-kit generate",
      "db:migrate": "drizzle-kit migrate",
      "db:push": "drizzle-kit push",
    },
    {},
    "npm run db:push (or npm run db:generate && npm run db:migrate)",
  ],
  ["no scripts", {}, JOURNAL, "npx drizzle-kit generate && npx drizzle-kit migrate"],
])("for Drizzle with %s", async (_, scripts, more, step) => {
  const files = {
    "package.json": manifest(scripts, "drizzle-orm"),
    "src/db/schema.ts": TABLES,
    "src/db/index.ts": "export const db = drizzle(url);\n",
    ...(more as Record<string, string>),
  };
  expect((await stepsIn(files))[1]).toBe(step);
});

it.each([
  ["pnpm@10.0.0", "pnpm exec prisma"],
  ["bun@1.3.0", "bunx prisma"],
  ["yarn@4.0.0", "yarn prisma"],
])("runs the tools of %s by %s", async (packageManager, command) => {
  const files = prisma({ "package.json": manifest({}, "@prisma/client", packageManager) });
  const [, migrate, generate] = await stepsIn(files);
  expect(migrate).toBe(`${command} migrate dev --name rate-limit`);
  expect(generate).toBe(`${command} generate`);
});
