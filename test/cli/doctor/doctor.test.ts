/** `doctor` on real databases, each with one fault. */
import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, inject, it, onTestFinished, vi } from "vitest";
import { doctor } from "../../../cli/doctor/doctor.js";
import { collationSql } from "../../../cli/init/edits/prisma-table.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../server/index.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import { node24, NO_NODE_24 } from "../../support/node-24.js";
import { pgbouncerVersion, startPgbouncer } from "../../support/pgbouncer.js";
import { faultsOf, findingOf, ROOT, runDoctor } from "../../support/run-doctor.js";
import { runCommand } from "../../support/run-init.js";
import { makeFolder } from "../../support/scaffold.js";

const FOREIGN = "(id integer, last_request integer, count integer)";
const HOUR = 3_600_000;

interface Kind {
  name: string;
  create: () => Promise<TestDatabase>;
  quote: (name: string) => string;
  /** Makes the column `key` fold case. */
  fold: string[];
  /** Makes the column `used` no double. */
  narrow: string[];
}

const doubleQuoted = (name: string) => `"${name}"`;
const backticked = (name: string) => `\`${name}\``;
const sqliteTable = (key: string, used: string) => [
  'DROP TABLE "RateLimit"',
  `CREATE TABLE "RateLimit" ("name" TEXT NOT NULL, "key" TEXT NOT NULL ${key}, "shard" INTEGER NOT NULL, ` +
    `"used" ${used} NOT NULL, "ts" REAL NOT NULL, PRIMARY KEY ("name", "key", "shard"))`,
];

const KINDS: Kind[] = [
  {
    name: "SQLite",
    create: createSqlite,
    quote: doubleQuoted,
    fold: sqliteTable("COLLATE NOCASE", "REAL"),
    narrow: sqliteTable("", "INTEGER"),
  },
  {
    name: "PostgreSQL",
    create: () => createPostgres(),
    quote: doubleQuoted,
    fold: [
      "CREATE COLLATION folds (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
      'ALTER TABLE "RateLimit" ALTER COLUMN "key" TYPE text COLLATE folds',
    ],
    narrow: ['ALTER TABLE "RateLimit" ALTER COLUMN "used" TYPE real'],
  },
];
if (mysqlUrl !== undefined) {
  KINDS.push({
    name: "MySQL or MariaDB",
    create: () => createMysql(),
    quote: backticked,
    fold: [
      "ALTER TABLE `RateLimit` MODIFY `key` VARCHAR(192) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL",
    ],
    narrow: ["ALTER TABLE `RateLimit` MODIFY `used` DECIMAL(20, 4) NOT NULL"],
  });
} else {
  it("finds faults of MySQL", ({ skip }) => skip("needs TEST_MYSQL_URL"));
}

describe.each(KINDS)("doctor on $name", ({ create, quote, fold, narrow }) => {
  let database: Awaited<ReturnType<typeof create>>;
  beforeEach(async () => {
    database = await create();
    return () => database[Symbol.asyncDispose]();
  });

  it("finds nothing wrong with a database that is as it should be", async () => {
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining(["versions", "connect", "table", "future", "clock", "writable"]),
    );
  });

  it("names a table that is missing", async () => {
    await database.prisma.$executeRawUnsafe(`DROP TABLE ${quote("RateLimit")}`);
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error table-missing"]);
    const { message, advice } = findingOf(findings, "table-missing");
    expect(message).toContain('table "RateLimit" does not exist in ');
    expect(message).not.toContain("migrations");
    expect(message).not.toContain("undefined");
    expect(advice).toContain("the Prisma schema has its model: run npx prisma migrate dev");
  });

  it("names a table of another package", async () => {
    await database.prisma.$executeRawUnsafe(`CREATE TABLE ${quote("other")} ${FOREIGN}`);
    const findings = await runDoctor(database.url, { table: "other" });
    expect(faultsOf(findings)).toEqual(["error table-foreign"]);
    expect(findingOf(findings, "table-foreign").message).toContain("name, key, shard, used, ts");
  });

  it("names a table of another version, whose rows say what is left", async () => {
    await database.prisma.$executeRawUnsafe(
      `ALTER TABLE ${quote("RateLimit")} RENAME COLUMN used TO ${quote("value")}`,
    );
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error table-columns"]);
    const { message, advice } = findingOf(findings, "table-columns");
    expect(message).toMatch(/^table "RateLimit" in .* has no column used; it has value$/);
    expect(advice).toContain("drop it and make it anew");
    expect(advice).not.toContain("rename");
  });

  it("names a collation that folds case", async () => {
    for (const statement of fold) await database.prisma.$executeRawUnsafe(statement);
    expect(faultsOf(await runDoctor(database.url))).toEqual(["error table-collation"]);
  });

  it("names a column that rounds", async () => {
    for (const statement of narrow) await database.prisma.$executeRawUnsafe(statement);
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error table-type"]);
    expect(findingOf(findings, "table-type").message).toContain("column used");
  });

  it("counts rows from the future, which a reset heals", async () => {
    const limiter = createRateLimiter({
      store: prismaStore(database.prisma as never),
      limits: { send: { kind: "token bucket", rate: 10, period: MINUTE } },
      clock: () => Date.now() + HOUR,
    });
    await limiter.limit("send", { key: "ann" });
    await limiter.limit("send", { key: "bob" });

    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error future"]);
    expect(findingOf(findings, "future").message).toMatch(/2 of send \(until \d{4}-/);

    await limiter.reset("send", { key: "ann" });
    await limiter.reset("send", { key: "bob" });
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
  });

  it("takes no closed bucket for a row from the future, nor a count of closings", async () => {
    const limits = {
      logIn: { kind: "token bucket", rate: 1, period: MINUTE, blockFor: [HOUR, 2 * HOUR] },
    } as const;
    const limiter = createRateLimiter({ store: prismaStore(database.prisma as never), limits });
    await limiter.limit("logIn", { key: "ann" });
    expect((await limiter.limit("logIn", { key: "ann" })).ok).toBe(false);
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
  });

  it("says how far this machine's clock is from the database's", async () => {
    const shift = `const now = Date.now; Date.now = () => now() - ${HOUR}`;
    const { code, stdout } = await runCommand(
      ".",
      ["doctor", "--json", "--table", "RateLimit", "--url", database.url],
      { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(shift)}` },
    );
    const findings = JSON.parse(stdout) as Awaited<ReturnType<typeof runDoctor>>;
    expect(faultsOf(findings)).toEqual(["warning clock"]);
    expect(findingOf(findings, "clock").message).toMatch(
      / is 3(600|599)\.\d s behind the database's/,
    );
    expect(code).toBe(0);
  });
});

describe.runIf(mysqlUrl !== undefined)("doctor on the table that Prisma makes on MySQL", () => {
  it("finds the collation, until the lines that init prints are run", async () => {
    await using database = await createMysql();
    const statements = [
      "DROP TABLE `RateLimit`",
      "CREATE TABLE `RateLimit` (`name` VARCHAR(192) NOT NULL, `key` VARCHAR(192) NOT NULL DEFAULT '', " +
        "`shard` INTEGER NOT NULL DEFAULT 0, `used` DOUBLE NOT NULL, `ts` DOUBLE NOT NULL, " +
        "PRIMARY KEY (`name`, `key`, `shard`)) DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci",
    ];
    for (const statement of statements) await database.prisma.$executeRawUnsafe(statement);
    expect(faultsOf(await runDoctor(database.url))).toEqual(["error table-collation"]);
    for (const line of collationSql("RateLimit").split(/(?<=;)\n/)) {
      await database.prisma.$executeRawUnsafe(line);
    }
    expect(faultsOf(await runDoctor(database.url))).toEqual([]);
  });
});

describe("doctor on PostgreSQL", () => {
  it("names an adapter that hides its pool from the store", async () => {
    await using database = await createPostgres();
    await using app = await makeFolder({
      "db.ts": `const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString }) });\n`,
      "limits.ts": `const store = prismaStore(prisma);\n`,
    });
    await symlink(join(ROOT, "node_modules"), join(app.root, "node_modules"));
    const findings = await runDoctor(database.url, { root: app.root });
    expect(findingOf(findings, "prisma-pool")).toMatchObject({
      level: "advice",
      message: expect.stringContaining("PrismaPg in db.ts keeps its pool to itself"),
    });
  });

  it("names the schema that has the table", async () => {
    await using database = await createPostgres();
    await database.prisma.$executeRawUnsafe("CREATE SCHEMA app");
    for (const table of ["RateLimit", "RateLimitOverride"]) {
      await database.prisma.$executeRawUnsafe(`ALTER TABLE "${table}" SET SCHEMA app`);
    }
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error table-elsewhere", "error overrides-elsewhere"]);
    expect(findingOf(findings, "table-elsewhere").message).toContain('schema "app"');
    expect(faultsOf(await runDoctor(database.url, { schema: "app" }))).toEqual([]);
    expect(faultsOf(await runDoctor(`${database.url}?schema=app`))).toEqual([]);
  });

  it("names a database that is read-only, and a default level that conflicts", async () => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    for (const setting of ["read_only = on", "isolation = serializable"]) {
      await database.prisma.$executeRawUnsafe(
        `ALTER DATABASE ${name} SET default_transaction_${setting}`,
      );
    }
    const findings = await runDoctor(database.url);
    expect(faultsOf(findings)).toEqual(["error writable", "warning isolation"]);
  });

  it("names few connections, and a small pool", async () => {
    await using database = await createPostgres();
    const name = new URL(database.url).pathname.slice(1);
    await database.prisma.$executeRawUnsafe(`ALTER DATABASE ${name} CONNECTION LIMIT 4`);
    const findings = await runDoctor(`${database.url}?connection_limit=1`);
    expect(faultsOf(findings)).toEqual(["warning pool"]);
    expect(findingOf(findings, "connections")).toMatchObject({
      level: "warning",
      message: expect.stringMatching(/^\d+ of 4 connections/),
    });
  });

  it("names a pooler that mixes up prepared statements", async ({ skip }) => {
    const version = pgbouncerVersion();
    if (version === undefined) return skip("needs PgBouncer");
    await using database = await createPostgres();
    await using pooler = await startPgbouncer(database.url);
    const findings = await runDoctor(pooler.urlOf(new URL(database.url).pathname));
    // Version 1.24 and later support prepared statements without a setting.
    const isSupported = Number(/ 1\.(\d+)/.exec(version)?.[1]) >= 24;
    expect(faultsOf(findings)).toEqual([isSupported ? "warning pooler" : "error pooler"]);
    const { message, advice } = findingOf(findings, "pooler");
    expect(message).toContain("a pooler in transaction mode");
    expect(advice).toContain("LISTEN does not work");
  });

  it("says that it cannot connect, without the password", async () => {
    const url = new URL(inject("postgresUrl"));
    url.password = "geheim";
    url.pathname = "there_is_no_such_database";
    const findings = await runDoctor(url.href);
    expect(faultsOf(findings)).toEqual(["error connect"]);
    expect(findingOf(findings, "connect").message).toMatch(
      /^cannot connect to postgresql:.*does not exist/,
    );
    expect(JSON.stringify(findings)).not.toContain("geheim");
  });

  it("takes no part of a password for the address, and says how to write it", async () => {
    const running = runDoctor("postgresql://ann:1/geheim@127.0.0.1:1/app");
    await expect(running).rejects.toThrow(/^(?!.*geheim).*\/ as %2F/);
  });

  it.each(["prisma+postgres://localhost:51213/?api_key=geheim", "prisma://x/?api_key=geheim"])(
    "says of %s that it takes the direct URL",
    async (url) => {
      await expect(runDoctor(url)).rejects.toThrow(
        /^(?!.*geheim).*pass the direct URL .* by --url/,
      );
    },
  );

  it("repeats no part of a --header that was not put into quotes", async () => {
    await using app = await makeFolder({ "package.json": "{}" });
    for (const args of [["doctor", "--header"], ["--header"]]) {
      const { code, stderr } = await runCommand(app.root, [...args, "cookie:", "geheim"]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/\bput the values|\bunknown command/);
      expect(stderr).not.toContain("geheim");
    }
  });
});

describe("doctor", () => {
  it("says that nothing listens", async () => {
    const findings = await runDoctor("postgresql://127.0.0.1:1/none");
    expect(findingOf(findings, "connect").message).toContain("ECONNREFUSED");
  });

  it("does not create a SQLite file that is missing", async () => {
    await using folder = await makeFolder({});
    const findings = await runDoctor(`file:${folder.root}/none.db`);
    expect(findingOf(findings, "connect").message).toContain("there is no file");
    expect(await folder.readAll()).toEqual({});
  });

  it("shows the path of a SQLite file as it is written, before the first migration", async () => {
    await using app = await makeFolder({ ".env": "DATABASE_URL=file:./db.sqlite\n" });
    vi.stubEnv("DATABASE_URL", "");
    onTestFinished(() => void vi.unstubAllEnvs());
    const findings = await doctor({ root: app.root, peers: {} });
    const { message, advice } = findingOf(findings, "connect");
    expect(message).toBe("there is no file for file:./db.sqlite yet");
    expect(advice).toContain("make it by a migration of the application");
  });

  it("names the packages that could connect, if the application has none", async () => {
    await using app = await makeFolder({ "package.json": "{}" });
    const findings = await runDoctor("mysql://root@127.0.0.1/test", { root: app.root });
    const { message, advice } = findingOf(findings, "connect");
    expect(message).toContain("the application has none of mysql2, mariadb");
    expect(advice).toContain("run npm install --no-save mysql2, which leaves package.json");
    expect(advice).not.toContain("DATABASE_URL");
  });

  it.each([
    { driver: "postgres", create: () => createPostgres() },
    // Without its URL, a skipped test above says so.
    ...(mysqlUrl === undefined ? [] : [{ driver: "mariadb", create: () => createMysql() }]),
  ])("connects through $driver, if the application has that", async ({ driver, create }) => {
    await using database = await create();
    await using app = await makeFolder({ "package.json": "{}", "node_modules/.keep": "" });
    await symlink(join(ROOT, "node_modules", driver), join(app.root, "node_modules", driver));
    const findings = await runDoctor(database.url, { root: app.root });
    expect(faultsOf(findings)).toEqual([]);
    expect(findingOf(findings, "connect").message).toMatch(new RegExp(` through ${driver}$`));
  });

  it("connects through node:sqlite", async ({ skip }) => {
    if (node24 === undefined) return skip(NO_NODE_24);
    await using database = await createSqlite();
    await using app = await makeFolder({ "package.json": "{}" });
    const options = { node: node24 };
    const args = ["doctor", "--url", database.url, "--table", "RateLimit"];
    const { code, stdout } = await runCommand(app.root, args, {}, options);
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/ through node:sqlite$/m),
    });
  });

  it("takes the URL from .env", async () => {
    await using app = await makeFolder({
      "package.json": "{}",
      ".env": "# the database\nDATABASE_URL='mysql://root@127.0.0.1/test'\n",
    });
    const { stdout, stderr, code } = await runCommand(app.root, ["doctor"], { DATABASE_URL: "" });
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toContain(
      "error    connect: the command asks the database through a driver, and the application has none of mysql2",
    );
    expect(stdout).toContain("1 error, 0 warnings");
    await app.write(".env", "");
    expect((await runCommand(app.root, ["doctor"], { DATABASE_URL: "" })).stderr).toMatch(
      /^there is no DATABASE_URL in the environment, nor in \.env\.local, \.env/,
    );
  });

  it.each([
    {
      orm: "Prisma",
      file: "prisma/schema.prisma",
      schema: `datasource db {\n  provider = "sqlite"\n}\nmodel Limits {\n  name String\n  key String\n  shard Int\n\n  @@id([name, key, shard])\n  @@map("app_limits")\n}\n`,
    },
    {
      orm: "Drizzle",
      file: "src/server/db/schema.ts",
      schema:
        "export const createTable = sqliteTableCreator((name) => `app_${name}`);\n" +
        'export const rateLimits = createTable("limits", (d) => ({ shard: d.integer() }));\n',
    },
  ])("takes the name of the table from $orm's schema", async ({ file, schema }) => {
    await using database = await createSqlite();
    await database.prisma.$executeRawUnsafe('ALTER TABLE "RateLimit" RENAME TO app_limits');
    await using app = await makeFolder({ "package.json": "{}", [file]: schema });
    await symlink(join(ROOT, "node_modules"), join(app.root, "node_modules"));
    const findings = await runDoctor(database.url, { root: app.root, table: undefined });
    expect(findingOf(findings, "table").message).toBe('table "app_limits" is one of limits');
  });

  it("names the files that open a pool to whose errors nothing listens", async () => {
    await using database = await createSqlite();
    const open = 'import pg from "pg";\nconst pool = new pg.Pool({ max: 3 });\n';
    await using app = await makeFolder({
      "package.json": "{}",
      "server/silent.ts": open,
      "server/heard.ts": `${open}pool.on("error", console.warn);\n`,
      "test/pool.ts": open,
    });
    await symlink(join(ROOT, "node_modules"), join(app.root, "node_modules"));
    const findings = await runDoctor(database.url, { root: app.root });
    expect(faultsOf(findings)).toEqual(["warning pool-errors"]);
    expect(findingOf(findings, "pool-errors").message).toMatch(/errors, in server\/silent\.ts$/);
  });

  it("names packages of tRPC whose versions differ, and peers that are too old", async () => {
    const packages = { "@trpc/server": "11.22.1", "@trpc/client": "11.19.0", zod: "3.22.0" };
    const files = Object.entries(packages).map(([name, version]) => [
      `node_modules/${name}/package.json`,
      JSON.stringify({ name, version }),
    ]);
    await using app = await makeFolder({
      "package.json": "{}",
      ...(Object.fromEntries(files) as Record<string, string>),
    });
    const peers = { "@trpc/server": "^11.4.0", zod: "^3.25.0 || ^4.0.0" };
    const findings = await runDoctor("mysql://root@127.0.0.1/test", { root: app.root, peers });
    expect(faultsOf(findings)).toEqual(["error versions", "warning versions", "error connect"]);
    expect(findings[0]!.message).toBe(
      "zod is 3.22.0, and this package works with ^3.25.0 || ^4.0.0",
    );
    expect(findings[1]!.message).toContain("@trpc/server 11.22.1, @trpc/client 11.19.0");
  });
});
