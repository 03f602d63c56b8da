/** Signs of Supabase in the files of an application. */
import { expect, it } from "vitest";
import { readProject } from "../../../../cli/init/facts/project.js";
import { seesSupabase } from "../../../../cli/init/facts/sees-supabase.js";
import { withPackages } from "../../../support/odd-project.js";
import { makeFolder } from "../../../support/scaffold.js";

async function isSeen(files: Record<string, string>): Promise<boolean> {
  await using app = await makeFolder({ "package.json": withPackages("pg"), ...files });
  return seesSupabase(await readProject(app.root));
}

it.each<[string, Record<string, string>]>([
  ["@supabase/supabase-js", { "package.json": withPackages("pg", "@supabase/supabase-js") }],
  [
    "its command as a tool",
    { "package.json": `{ "dependencies": { "pg": "8" }, "devDependencies": { "supabase": "2" } }` },
  ],
  ["a folder of its command", { "supabase/config.toml": "" }],
  [
    "a direct URL",
    { ".env": "DATABASE_URL=postgresql://postgres:x@db.abc.supabase.co:5432/postgres" },
  ],
  [
    "a URL of its pooler, in quotes and with an option",
    {
      ".env": `DATABASE_URL="postgres://postgres.abc:x@aws-0-eu-1.pooler.supabase.com:6543/postgres?pgbouncer=true"`,
    },
  ],
  [
    "a direct URL beside another one",
    {
      ".env":
        "DATABASE_URL=postgres://localhost/a\nDIRECT_URL=postgresql://a:b@db.c.supabase.co/postgres",
    },
  ],
  [
    "a password that no URL may have",
    { ".env.local": "DATABASE_URL=postgresql://a:p@/%[@db.c.supabase.co/postgres" },
  ],
  [
    "the variable of a host",
    { "prisma/.env": "POSTGRES_URL=postgres://a:b@db.c.supabase.co/postgres" },
  ],
])("sees %s", async (_, files) => {
  expect(await isSeen(files)).toBe(true);
});

it.each<[string, Record<string, string>]>([
  ["nothing of it", {}],
  ["a file of that name", { supabase: "" }],
  ["a source folder of that name", { "src/supabase/client.ts": "export {};\n" }],
  ["a URL of Neon", { ".env": "DATABASE_URL=postgresql://a:b@ep-x.eu.aws.neon.tech/supabase.co" }],
  ["a host that only looks like it", { ".env": "DATABASE_URL=postgresql://a:b@notsupabase.co/x" }],
  [
    "a host that begins like it",
    { ".env": "DATABASE_URL=postgresql://a:b@supabase.co.example.org/x" },
  ],
  ["a URL in a comment", { ".env": "# DATABASE_URL=postgresql://a:b@db.c.supabase.co/x" }],
])("sees none in %s", async (_, files) => {
  expect(await isSeen(files)).toBe(false);
});

it("sees it from the package of the database in a monorepo", async () => {
  await using app = await makeFolder({
    "package.json": `{ "workspaces": ["packages/*"] }`,
    "packages/api/package.json": `{ "name": "api", "dependencies": { "@trpc/server": "11", "db": "*" } }`,
    "packages/api/index.ts": `import { initTRPC } from "@trpc/server";\nexport const t = initTRPC.create();\n`,
    "packages/db/package.json": `{ "name": "db", "dependencies": { "drizzle-orm": "1", "drizzle-kit": "1" } }`,
    "packages/db/.env": "DATABASE_URL=postgresql://a:b@db.c.supabase.co/postgres\n",
    "packages/web/package.json": `{ "name": "web", "dependencies": { "api": "*" } }`,
  });
  expect(await seesSupabase(await readProject(app.root))).toBe(true);
});
