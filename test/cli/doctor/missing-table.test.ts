/**
 * The advice of `doctor` about a missing table: it names the next step, and never sends the user back to
 * `init`.
 */
import { spawnSync } from "node:child_process";
import { expect, it, onTestFinished, vi } from "vitest";
import { missingAdvice } from "../../../cli/doctor/missing-table.js";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../support/run-doctor.js";
import { runInit } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";
import { SCHEMA, TABLES } from "../../support/odd-project.js";

const packageJson = (name: string, version = "1") =>
  `{\n  "dependencies": {\n    "${name}": "${version}"\n  }\n}\n`;

it.each([
  { client: "pg", command: 'psql "${DATABASE_URL:?}" -f server/rate-limit.sql' },
  { client: "mysql2", command: "mysql -h HOST -u USER -p DATABASE < server/rate-limit.sql" },
  { client: "@libsql/client", command: "sqlite3 DATABASE_FILE < server/rate-limit.sql" },
])(
  "of an application on $client names the SQL that init has written",
  async ({ client, command }) => {
    await using app = await makeFolder({ "package.json": packageJson(client) });
    expect(await runInit(app.root)).toContain(`make the table: ${command}`);
    const dialect = command.startsWith("psql") ? "postgresql" : "mysql";
    expect(
      await missingAdvice(app.root, client === "@libsql/client" ? "sqlite" : dialect),
    ).toContain(command);
  },
);

it.each([
  { files: { ".env": "DATABASE_URL=postgresql://x/y\n" }, loading: "set -a; . ./.env; set +a; " },
  {
    files: { ".env": "OTHER=1\n", ".env.local": "DATABASE_URL=postgresql://x/y\n" },
    loading: "set -a; . ./.env.local; set +a; ",
  },
  { files: { ".env": "OTHER=1\n" }, loading: "" },
])("loads the file with DATABASE_URL first: $files", async ({ files, loading }) => {
  await using app = await makeFolder({ "package.json": packageJson("pg"), ...files });
  const command = `: ${loading}psql "\${DATABASE_URL:?}" -f server/rate-limit.sql`;
  expect(await runInit(app.root)).toContain(`make the table${command}`);
  expect(await missingAdvice(app.root, "postgresql")).toContain(`makes it${command}`);
  // A shell that has the variable needs no file.
  vi.stubEnv("DATABASE_URL", "postgresql://x/z");
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(await missingAdvice(app.root, "postgresql")).toContain(": psql ");
});

it("stops in a shell where DATABASE_URL is not set, before psql takes another database", async () => {
  await using app = await makeFolder({ "package.json": packageJson("pg") });
  const advice = await missingAdvice(app.root, "postgresql");
  const command = /: (psql .*\.sql)/.exec(advice)![1]!.replace("psql", "echo psql");
  for (const url of [undefined, ""]) {
    const env = { PATH: process.env["PATH"], DATABASE_URL: url };
    const { status, stdout } = spawnSync("sh", ["-c", command], { env, encoding: "utf8" });
    expect({ isStopped: status !== 0, stdout }).toEqual({ isStopped: true, stdout: "" });
  }
});

it.each(["postgresql", "mysql", "sqlite"] as const)(
  "of an application without such a file names that of the package, for %s",
  async (dialect) => {
    await using app = await makeFolder({ "package.json": packageJson("pg") });
    const advice = await missingAdvice(app.root, dialect);
    const [, file] = /node_modules\/trpc-rate-limit\/(\S+\.sql)/.exec(advice)!;
    expect(existsSync(join(ROOT, file!))).toBe(true);
    expect(advice).not.toContain("init");
  },
);

it("of a schema without the table sends to init, and with it to a migration", async () => {
  await using prisma = await makeFolder({
    "package.json": packageJson("@prisma/client", "^7.0.0"),
    "prisma/schema.prisma": SCHEMA,
  });
  await using drizzle = await makeFolder({
    "package.json": packageJson("drizzle-orm"),
    "src/db/schema.ts": TABLES,
  });
  for (const { root } of [prisma, drizzle]) {
    expect(await missingAdvice(root, "postgresql")).toContain("run npx trpc-rate-limit init");
    await runInit(root);
    expect(await missingAdvice(root, "postgresql")).not.toContain("init");
  }
  expect(await missingAdvice(prisma.root, "postgresql")).toContain("prisma migrate dev");
  expect(await missingAdvice(drizzle.root, "postgresql")).toContain("npx drizzle-kit");
  await drizzle.write("bun.lock", "");
  expect(await missingAdvice(drizzle.root, "postgresql")).toContain("bunx drizzle-kit push");
});
