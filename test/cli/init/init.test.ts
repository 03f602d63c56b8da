/** `init` in applications of other shapes: schemas, clients and existing files. */
import { chmod, lstat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeChange } from "../../../cli/init/files/files.js";
import { initIn, runCommand, runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";

const PACKAGE = `{
  "name": "app",
  "dependencies": {
    "@trpc/server": "^11.0.0",
    "zod": "^4.0.0"
  }
}
`;
const CLIENT = `import { PrismaClient } from "@prisma/client";
export const prisma = new PrismaClient();
`;
const TRPC = `import { initTRPC } from "@trpc/server";
export const t = initTRPC.create();
`;

function schemaOf(provider: string, rest = ""): string {
  return `generator client {\n  provider = "prisma-client"\n}\n\ndatasource db {\n  provider = "${provider}"\n${rest}}\n`;
}

const prismaApp = (schema: string) => ({
  "package.json": PACKAGE,
  "prisma/schema.prisma": schema,
  "src/db.ts": CLIENT,
});

const MODEL = /^model RateLimit \{\n  name  String\n  key   String @default\(""\)\n/m;
const FOREIGN = `
model RateLimit {
  id          String @id
  key         String @unique
  count       Int
  lastRequest BigInt

  @@map("rateLimit")
}
`;

describe("a Prisma schema", () => {
  it.each([
    { place: "schema.prisma", config: {} },
    { place: "prisma/schema.prisma", config: {} },
    {
      place: "database/main.prisma",
      config: { "prisma.config.ts": `export default { schema: "./database/main.prisma" };` },
    },
    {
      place: "database/all.prisma",
      config: {
        "prisma.config.ts": `export default defineConfig({\n  schema: path.join("database", "all.prisma"),\n});`,
      },
    },
    ...["prisma7.config.ts", "prisma7.config.mjs", ".config/prisma7.js"].map((config) => ({
      place: "database/main.prisma",
      config: {
        [config]: `export default { schema: "./database/main.prisma" };`,
        "prisma.config.ts": `export default { schema: "./old.prisma" };`,
      },
    })),
    {
      place: "db/schema.prisma",
      config: { "package.json": `{ "prisma": { "schema": "db/schema.prisma" } }` },
    },
  ])("is found at $place and gets the model once", async ({ place, config }) => {
    await using app = await initIn({
      "package.json": PACKAGE,
      [place]: schemaOf("sqlite"),
      "src/db.ts": CLIENT,
      ...config,
    });
    const schema = await app.read(place);
    expect(schema).toMatch(MODEL);
    await runInit(app.root);
    expect(await app.read(place)).toBe(schema);
  });

  it("of several files gets the model in a file of its own", async () => {
    await using app = await initIn({
      "package.json": PACKAGE,
      "prisma/schema/main.prisma": schemaOf("postgresql"),
      "prisma/schema/user.prisma": "model User {\n  id String @id\n}\n",
      "src/db.ts": CLIENT,
    });
    expect(await app.read("prisma/schema/rate-limit.prisma")).toMatch(MODEL);
    expect(await app.read("prisma/schema/main.prisma")).toBe(schemaOf("postgresql"));
    expect(await runInit(app.root)).toMatch(/^Nothing to change/m);
  });

  it("with another package's RateLimit keeps it, and the store gets the other name", async () => {
    await using app = await initIn(prismaApp(schemaOf("postgresql") + FOREIGN));
    const schema = await app.read("prisma/schema.prisma");
    expect(schema.startsWith(schemaOf("postgresql") + FOREIGN)).toBe(true);
    expect(schema).toMatch(/model TrpcRateLimit \{[^}]*@@map\("trpc_rate_limit"\)/);
    expect(await app.read("src/limits.ts")).toContain(
      'prismaStore(prisma, { model: "TrpcRateLimit" })',
    );
    await runInit(app.root);
    expect(await app.read("prisma/schema.prisma")).toBe(schema);
  });

  it("for MySQL has the lengths, and the lines for the migration are printed", async () => {
    await using app = await initIn(prismaApp(schemaOf("mysql")));
    const schema = await app.read("prisma/schema.prisma");
    expect(schema).toContain('key   String @default("") @db.VarChar(192)');
    expect(app.printed).toContain("ALTER TABLE `RateLimit`\n");
    expect(app.printed).toContain(
      "MODIFY `name` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    );
  });

  it("with several database schemas names one for the model", async () => {
    await using app = await initIn(
      prismaApp(schemaOf("postgresql", '  schemas = ["app", "audit"]\n')),
    );
    expect(await app.read("prisma/schema.prisma")).toMatch(/@@id\(.*\)\n {2}@@schema\("app"\)/);
  });

  it("for a database without support is refused, and nothing is written", async () => {
    await using app = await makeFolder({
      "package.json": PACKAGE,
      "prisma/schema.prisma": schemaOf("mongodb"),
    });
    const before = await app.readAll();
    await expect(runInit(app.root)).rejects.toThrow(
      "the Prisma schema prisma/schema.prisma has the provider mongodb",
    );
    expect(await app.readAll()).toEqual(before);
  });
});

it("refuses an application on PlanetScale", async () => {
  await using app = await makeFolder({
    "package.json": PACKAGE.replace("zod", "@planetscale/database"),
    "prisma/schema.prisma": schemaOf("mysql"),
  });
  await expect(runInit(app.root)).rejects.toThrow("PlanetScale, whose Vitess cannot keep limits");
});

describe("a Drizzle schema", () => {
  it("without a prefix gets the table, beside another package's table", async () => {
    const schema = `import { pgTable, text } from "drizzle-orm/pg-core";

export const rateLimits = pgTable("rate_limits", { id: text("id").primaryKey() });
`;
    await using app = await initIn({
      "package.json": PACKAGE.replace("zod", "drizzle-orm"),
      "drizzle.config.ts": `export default defineConfig({ schema: "./src/tables.ts" });`,
      "src/tables.ts": schema,
      "src/db.ts": `export const db = drizzle(url);\n`,
    });
    const after = await app.read("src/tables.ts");
    expect(after).toContain('import { pgTable, primaryKey, text } from "drizzle-orm/pg-core";');
    expect(after).toContain('export const trpcRateLimits = pgTable(\n  "trpc_rate_limits",');
    expect(await app.read("src/limits.ts")).toContain('import { trpcRateLimits } from "./tables";');
    expect(await runInit(app.root)).toMatch(/^Nothing to change/m);
  });

  it.each(["./src/db/schema", "./src/db/schema/*.ts", "src/db/schema/**/*"])(
    "that is the folder %s gets a file of its own",
    async (schema) => {
      await using app = await initIn({
        "package.json": PACKAGE.replace("zod", "drizzle-orm"),
        "drizzle.config.ts": `export default defineConfig({ schema: "${schema}", dialect: "mysql" });`,
        "src/db/schema/users.ts": `import { int, mysqlTable } from 'drizzle-orm/mysql-core'\n\nexport const users = mysqlTable('users', { id: int() })\n`,
        "src/db/index.ts": "export const db = drizzle(url)\n",
      });
      const table = await app.read("src/db/schema/rate-limit.ts");
      // As the files beside it are written.
      expect(table).toContain(
        "import { customType, mysqlTable, primaryKey } from 'drizzle-orm/mysql-core'\n",
      );
      expect(await app.read("src/server/limits.ts")).toContain(
        "import { rateLimits } from '../db/schema/rate-limit'\n",
      );
      expect(await runInit(app.root)).toMatch(/^Nothing to change/m);
    },
  );

  it("with another table in rate-limit.ts gets a file of another name", async () => {
    const other = `import { pgTable, text } from "drizzle-orm/pg-core";\n\nexport const rateLimits = pgTable("rate_limits", { id: text("id").primaryKey() });\n`;
    await using app = await initIn({
      "package.json": PACKAGE.replace("zod", "drizzle-orm"),
      "drizzle.config.ts": `export default defineConfig({ schema: "./src/schema", dialect: "postgresql" });`,
      "src/schema/rate-limit.ts": other,
      "src/db.ts": "export const db = drizzle(url);\n",
    });
    expect(await app.read("src/schema/rate-limit.ts")).toBe(other);
    expect(await app.read("src/schema/trpc-rate-limit.ts")).toContain(
      'export const trpcRateLimits = pgTable(\n  "trpc_rate_limits",',
    );
    expect(await app.read("src/limits.ts")).toContain(
      'import { trpcRateLimits } from "./schema/trpc-rate-limit";',
    );
    expect(await runInit(app.root)).toMatch(/^Nothing to change/m);
  });

  it.each([
    ["^0.34.0", "(t) => ({ key: primaryKey({ columns: [t.name, t.key, t.shard] }) }),"],
    ["^0.36.0", "(t) => [primaryKey({ columns: [t.name, t.key, t.shard] })],"],
  ])("of %s gets constraints of the form that its types take", async (range, line) => {
    await using app = await initIn({
      "package.json": PACKAGE.replace('"zod": "^4.0.0"', `"drizzle-orm": "${range}"`),
      "src/db/schema.ts": `import { pgTable } from "drizzle-orm/pg-core";\n`,
      "src/db/index.ts": "export const db = drizzle(url);\n",
    });
    expect(await app.read("src/db/schema.ts")).toContain(line);
  });

  it("of several files is left to its author, with the limits that need it", async () => {
    await using app = await initIn({
      "package.json": PACKAGE.replace("zod", "drizzle-orm"),
      "drizzle.config.ts": `export default defineConfig({ schema: ["./a.ts", "./b.ts"] });`,
      "db.ts": `export const db = drizzle(url);\n`,
    });
    expect(app.printed).toContain("By hand, in drizzle.config.ts");
    expect(app.printed).toContain("By hand, in server/limits.ts (it needs the table):");
    expect(Object.keys(await app.readAll())).not.toContain("server/limits.ts");
  });
});

describe("an application with tRPC that is not T3", () => {
  it("gets the table and the limits, and its author the lines for the rest", async () => {
    await using app = await initIn({
      "package.json": PACKAGE,
      "tsconfig.json": `{ "compilerOptions": { "module": "NodeNext" } }`,
      "prisma/schema.prisma": schemaOf("sqlite"),
      "server/database/client.ts": CLIENT,
      "server/trpc.ts": TRPC,
    });
    expect(await app.read("server/trpc.ts")).toBe(TRPC);
    expect(await app.read("server/limits.ts")).toContain(
      'import { prisma } from "./database/client.js";',
    );
    expect(app.printed).toContain("By hand, in server/trpc.ts");
    expect(app.printed).toContain('import { limiter } from "./limits.js";');
    expect(app.printed).toContain("rateLimit: rateLimitRouter,");
    expect(app.printed).toContain("<RateLimitProvider client={trpcClient}>");
  });

  it("that has everything is told so, with each file named once", async () => {
    await using app = await makeFolder({
      "package.json": PACKAGE.replace('"zod"', '"trpc-rate-limit": "*",\n    "zod"'),
      "server/router.ts": `${TRPC}const limiter = createRateLimiter({});\ncreateRateLimitTRPC({ t, limiter });\n`,
    });
    expect(await runInit(app.root)).toContain("are in package.json, server/router.ts already.");
  });

  it("keeps a limits.ts of its own", async () => {
    await using app = await initIn({
      "package.json": PACKAGE,
      "prisma/schema.prisma": schemaOf("sqlite"),
      "server/limits.ts": "export const limits = { users: 10 };\n",
      "db.ts": CLIENT,
    });
    expect(await app.read("server/limits.ts")).toBe("export const limits = { users: 10 };\n");
    expect(app.printed).toContain(
      "By hand, in server/limits.ts (there is a file of this name already",
    );
  });
});

describe("installing", () => {
  /** With a package manager that writes down its arguments, and ends with `code`. */
  async function install(packageManager: string, code: number, ...args: string[]) {
    const app = await makeFolder({
      "package.json": PACKAGE.replace(
        '"name"',
        `"packageManager": "${packageManager}@9.0.0",\n  "name"`,
      ),
      [`bin/${packageManager}`]: `#!/bin/sh\necho "$@" > called.txt\nexit ${code}\n`,
    });
    await chmod(join(app.root, "bin", packageManager), 0o755);
    const env = { PATH: `${join(app.root, "bin")}:${process.env["PATH"]!}` };
    const result = await runCommand(app.root, ["init", "--yes", ...args], env);
    const called = (await app.readAll())["called.txt"];
    return { ...result, called, [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]() };
  }

  it.each(["npm", "pnpm", "yarn", "bun"])(
    "is done by %s, which package.json names",
    async (name) => {
      await using done = await install(name, 0);
      expect(done).toMatchObject({ code: 0, called: "install\n" });
      expect(done.stdout).toContain(`\n$ ${name} install\n`);
      expect(done.stdout).not.toContain(`1. ${name} install`);
    },
  );

  it("is left to the author by --no-install, and when it fails", async () => {
    await using left = await install("pnpm", 0, "--no-install");
    expect(left.called).toBeUndefined();
    expect(left.stdout).toContain("\nNext:\n1. pnpm install\n");
    await using failed = await install("yarn", 1);
    expect(failed).toMatchObject({ code: 0, called: "install\n" });
    expect(failed.stdout).toContain("yarn install has failed; what init has written is there");
    expect(failed.stdout).toContain("\nNext:\n1. yarn install\n");
  });
});

describe("writing", () => {
  const change = { file: "a.txt", before: "one\n", after: "two\n" };

  it("does not replace a file that has changed since it was read", async () => {
    await using folder = await makeFolder({ "a.txt": "other\n" });
    await expect(writeChange(folder.root, change)).rejects.toThrow("a.txt has changed meanwhile");
    await expect(writeChange(folder.root, { ...change, before: undefined })).rejects.toThrow(
      "a.txt has changed meanwhile",
    );
    expect(await folder.readAll()).toEqual({ "a.txt": "other\n" });
  });

  it("keeps a link a link", async () => {
    await using folder = await makeFolder({ "real.txt": "one\n" });
    await symlink("real.txt", join(folder.root, "a.txt"));
    await writeChange(folder.root, change);
    expect((await lstat(join(folder.root, "a.txt"))).isSymbolicLink()).toBe(true);
    expect(await folder.read("real.txt")).toBe("two\n");
  });
});

it("asks to be run in an application's folder", async () => {
  await using folder = await makeFolder({});
  await expect(runInit(folder.root)).rejects.toThrow("there is no package.json in ");
});
