/** `init` in applications with versions that this package does not support: tRPC 10, and Prisma 4 and 5. */
import { describe, expect, it } from "vitest";
import { initIn, runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";
import { application, EXPRESS, type Files, packageJson } from "../../support/trpc-applications.js";

function trpc10(range = "^10.43.0"): Files {
  const files = application(EXPRESS);
  files["package.json"] = files["package.json"]!.replace(
    '"@trpc/server": "*"',
    `"@trpc/server": "${range}"`,
  );
  files["src/router.ts"] = files["src/router.ts"]!.replace(
    `hello: publicProcedure.query(() => "hello")`,
    `post: t.router({ create: publicProcedure.mutation(() => "hello") })`,
  );
  files["src/context.ts"] = files["src/context.ts"]!.replace(
    "return { pool }",
    "return { userId: idOf(res), pool }",
  );
  return files;
}

const installed = (version: string): Files => ({
  "node_modules/@trpc/server/package.json": JSON.stringify({ name: "@trpc/server", version }),
});

describe("tRPC 10", () => {
  it.each([
    ["by its range", trpc10()],
    ["by what is installed", { ...trpc10("*"), ...installed("10.45.4") }],
  ])("%s gets a limiter, and nothing that needs tRPC 11", async (_, files) => {
    await using app = await initIn(files);
    const { printed } = app;
    const after = await app.readAll();
    const changed = Object.keys(after).filter((file) => after[file] !== files[file]);
    expect(changed.toSorted()).toEqual(["package.json", "src/limits.ts", "src/rate-limit.sql"]);
    expect(after["src/limits.ts"]).toContain("store: pgStore(pool),");

    expect(printed).not.toMatch(/^By hand/m);
    expect(printed).not.toMatch(/from "trpc-rate-limit\/(?:trpc|client|react)"/);
    expect(printed).toContain("The application has tRPC 10.");
    expect(printed).toContain(
      `write .use(rateLimited("createPost")) in post.create of src/router.ts`,
    );
    expect(printed).toContain('const key = ctx.userId ? `user:${ctx.userId}` : "visitors";');
    expect(printed).toContain('code: "TOO_MANY_REQUESTS"');
    expect(printed).toContain('import { RateLimitCountdown } from "trpc-rate-limit/countdown";');

    expect(await runInit(app.root)).toMatch(/^Nothing to change/);
  });

  it("is not installed by a command that npm refuses", async () => {
    await using app = await initIn(trpc10());
    const [, added] = /^1\. add this to the package\.json at the root[^\n]*\n\n([^]*?)\n\n/m.exec(
      app.printed,
    )!;
    expect(JSON.parse(`{${added}}`)).toEqual({
      overrides: { "trpc-rate-limit": { "@trpc/client": "*", "@trpc/server": "^10.43.0" } },
    });
    await using other = await makeFolder({ ...trpc10(), "pnpm-lock.yaml": "" });
    expect(await runInit(other.root)).toMatch(/^1\. pnpm install$/m);
  });

  it("is not what has another range, or tRPC 11 in its place", async () => {
    await using app = await makeFolder({ ...trpc10("*"), ...installed("11.0.1") });
    expect(await runInit(app.root)).not.toContain("tRPC 10");
  });
});

describe("Prisma before 6", () => {
  const prisma = (range: string): Files => ({
    "package.json": packageJson("express", "@prisma/client").replace(
      '"@prisma/client": "*"',
      `"@prisma/client": "${range}"`,
    ),
    "prisma/schema.prisma": `datasource db {\n  provider = "postgresql"\n}\n`,
    "src/db.ts": `import { PrismaClient } from "@prisma/client";\nexport const db = new PrismaClient();\n`,
  });

  it.each(["^4.11.0", "5.22.0"])("is refused, as %s", async (range) => {
    const files = prisma(range);
    await using app = await makeFolder(files);
    await expect(runInit(app.root)).rejects.toThrow("prismaStore needs Prisma 6 or later");
    expect(await app.readAll()).toEqual(files);
  });

  it.each(["^6.16.1", "~7.0.0", "latest"])("is not what has %s", async (range) => {
    await using app = await makeFolder(prisma(range));
    expect(await runInit(app.root)).toContain("limits.ts");
  });
});

describe("libsql 0.18.0, which loses what it answers", () => {
  const withLibsql = (range: string): Files => ({
    "package.json": packageJson("express", "@libsql/client").replace(
      '"@libsql/client": "*"',
      `"@libsql/client": "${range}"`,
    ),
    "src/db.ts": `import { createClient } from "@libsql/client";
export const db = createClient({ url: "file:app.db" });
`,
  });
  it.each(["0.18.0", "^0.18.0"])("%s is named, with the version to take", async (range) => {
    await using app = await makeFolder(withLibsql(range));
    expect(await runInit(app.root)).toMatch(
      /take @libsql\/client 0\.17\.4 in place of 0\.18\.0: .*SQLITE_BUSY_SNAPSHOT/,
    );
  });
  it("is not named where another version is asked for", async () => {
    await using app = await makeFolder(withLibsql("^0.17.4"));
    expect(await runInit(app.root)).not.toContain("take @libsql/client");
  });
});
