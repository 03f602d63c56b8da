/** `verify` as a user runs it, on real databases: what it proves, and that it leaves nothing behind. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { VerifyReport } from "../../../cli/verify/report.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../../support/database.js";
import { startPostgres } from "../../support/postgres-server.js";
import { NO_REDIS, redisUrl } from "../../support/redis-rows.js";
import { ROOT } from "../../support/run-doctor.js";
import { MAIN, runCommand } from "../../support/run-init.js";

/** A run takes 20 s on two idle cores. */
vi.setConfig({ testTimeout: 300_000 });

const TABLES = {
  postgresql:
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1",
  mysql:
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = DATABASE() ORDER BY 1",
  sqlite: "SELECT name FROM sqlite_master ORDER BY 1",
};

async function tablesOf(
  { prisma }: TestDatabase,
  dialect: keyof typeof TABLES,
): Promise<{ name: string }[]> {
  return prisma.$queryRawUnsafe(TABLES[dialect]);
}

function withPassword(url: string): string {
  const given = new URL(url);
  given.password = "S3cret-of-Ann";
  return given.href;
}

/** What has to be true of a report of a database that keeps limits. */
function expectHeld({ held, contract, race, isRemoved }: VerifyReport, skipped: number): void {
  expect(contract.flatMap(({ failed }) => failed)).toEqual([]);
  expect(race.flatMap(({ problems }) => problems)).toEqual([]);
  expect({ held, isRemoved }).toEqual({ held: true, isRemoved: true });
  expect(contract.reduce((sum, each) => sum + each.skipped.length, 0)).toBe(skipped);
  expect(contract.reduce((sum, { passed }) => sum + passed, 0)).toBeGreaterThan(30 - skipped);
  for (const { isKilled, granted, tokens, median } of race) {
    if (!isKilled) expect(granted).toBe(tokens);
    expect(median).toBeGreaterThan(0);
  }
  expect(race.map(({ rounds }) => rounds)).toEqual([6, 2, 6, 2, 6, 2, 6, 2]);
}

describe("verify", () => {
  it("proves PostgreSQL, in a text for people without the password and the host", async () => {
    await using database = await createPostgres();
    const before = await tablesOf(database, "postgresql");
    const url = withPassword(database.url);
    const { code, stdout, stderr } = await runCommand(ROOT, ["verify", "--yes"], {
      DATABASE_URL: url,
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^contract {3}sharing: 6 passed, \d+\.\d s$/m);
    expect(stdout).toMatch(/^race {7}token bucket, 1 key: 240 of 240 granted in 6 rounds, median/m);
    expect(stdout).toContain("### trpc-rate-limit verify: everything held");
    expect(stdout).toMatch(/^\| driver \| pg \d/m);
    expect(stdout).toContain("default_transaction_isolation=read committed");
    expect(stdout).not.toContain("S3cret-of-Ann");
    expect(stdout).not.toContain(new URL(url).hostname);
    expect(await tablesOf(database, "postgresql")).toEqual(before);
  });

  it("proves MySQL or MariaDB", async ({ skip }) => {
    if (mysqlUrl === undefined) return skip("needs TEST_MYSQL_URL");
    await using database = await createMysql();
    const before = await tablesOf(database, "mysql");
    const run = await runCommand(ROOT, ["verify", "--yes", "--json", "--url", database.url]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const report = JSON.parse(run.stdout) as VerifyReport;
    expectHeld(report, 0);
    expect(report.versions.driver).toMatch(/^mysql2 \d/);
    expect(await tablesOf(database, "mysql")).toEqual(before);
  });

  it("proves a file of SQLite", async () => {
    await using database = await createSqlite();
    const before = await tablesOf(database, "sqlite");
    const run = await runCommand(ROOT, ["verify", "--yes", "--json", "--url", database.url]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expectHeld(JSON.parse(run.stdout) as VerifyReport, 0);
    expect(run.stdout).not.toContain(database.url.replace("file:", ""));
    expect(await tablesOf(database, "sqlite")).toEqual(before);
  });

  it("proves Redis or Valkey, which has no transactions", async ({ skip }) => {
    if (redisUrl === undefined) return skip(NO_REDIS);
    const client = new Redis(redisUrl);
    onTestFinished(() => client.disconnect());
    const run = await runCommand(ROOT, ["verify", "--yes", "--json", "--url", redisUrl]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    const report = JSON.parse(run.stdout) as VerifyReport;
    expectHeld(report, 8);
    expect(report.settings).toMatchObject({ maxmemory_policy: "noeviction" });
    // Other tests have keys of their own.
    expect(await client.keys("rate-limit-verify:*")).toEqual([]);
  });

  it("finds a database that gives spent tokens back, and leaves nothing there either", async () => {
    await using database = await createPostgres();
    const before = await tablesOf(database, "postgresql");
    for (const sql of [
      `CREATE FUNCTION public.forget() RETURNS trigger LANGUAGE plpgsql AS
         'BEGIN IF NEW.used >= 30 THEN NEW.used := 0; END IF; RETURN NEW; END'`,
      `CREATE FUNCTION public.sabotage() RETURNS event_trigger LANGUAGE plpgsql AS
         'DECLARE made record; BEGIN
            FOR made IN SELECT * FROM pg_event_trigger_ddl_commands()
              WHERE command_tag = ''CREATE TABLE'' AND object_identity NOT LIKE ''%Override%''
            LOOP
              EXECUTE format(''CREATE TRIGGER forget BEFORE UPDATE ON %s FOR EACH ROW EXECUTE FUNCTION public.forget()'', made.object_identity);
            END LOOP;
          END'`,
      "CREATE EVENT TRIGGER sabotage ON ddl_command_end EXECUTE FUNCTION public.sabotage()",
    ]) {
      await database.prisma.$executeRawUnsafe(sql);
    }
    const run = await runCommand(ROOT, ["verify", "--yes", "--json", "--url", database.url]);
    expect(run).toMatchObject({ code: 1, stderr: "" });
    const report = JSON.parse(run.stdout) as VerifyReport;
    expect(report).toMatchObject({ held: false, isRemoved: true });
    expect(report.contract.flatMap(({ failed }) => failed).length).toBeGreaterThan(0);
    const [first] = report.race;
    expect(first!.problems.join("\n")).toMatch(/^\d{2,} of 40 tokens of a key were granted$/m);
    expect(await tablesOf(database, "postgresql")).toEqual(before);
  });

  it("refuses to run without the right to make a table, and shows the statement", async () => {
    await using database = await createPostgres();
    const before = await tablesOf(database, "postgresql");
    const role = `visitor_${process.pid}_${Date.now()}`;
    await database.prisma.$executeRawUnsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'S3cret-of-Ann'`);
    onTestFinished(async () => {
      await using other = await createPostgres();
      await other.prisma.$executeRawUnsafe(`DROP ROLE ${role}`);
    });
    await database.prisma.$executeRawUnsafe("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    const url = new URL(withPassword(database.url));
    url.username = role;
    const run = await runCommand(ROOT, ["verify", "--yes", "--url", url.href]);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain("permission denied for schema public");
    expect(run.stderr).toMatch(/CREATE TABLE "RateLimitVerify\w+" \(/);
    expect(run.stderr).not.toMatch(/S3cret-of-Ann|could not be removed|\n\s+at /);
    expect(await tablesOf(database, "postgresql")).toEqual(before);
  });

  it("names the database that it cannot reach, without the password", async () => {
    for (const url of [
      "postgresql://ann:S3cret-of-Ann@127.0.0.1:1/app",
      "mysql://ann:S3cret-of-Ann@127.0.0.1:1/app",
      "redis://ann:S3cret-of-Ann@127.0.0.1:1",
    ]) {
      const { code, stdout, stderr } = await runCommand(ROOT, ["verify", "--yes", "--url", url]);
      expect(code).toBe(1);
      expect(stderr).toContain(`cannot connect to ${url.replace("ann:S3cret-of-Ann@", "")}`);
      expect(stdout + stderr).not.toMatch(/S3cret-of-Ann|\n\s+at /);
    }
  });

  it("ends when the database falls silent, and says what is left there", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.stop());
    const child = spawn(process.execPath, [MAIN, "verify", "--yes", "--url", server.url], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    let pausing: Promise<void> | undefined;
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.includes("contract   takes")) pausing ??= server.pause();
    });
    const [code] = (await once(child, "close")) as [number];
    await pausing;
    server.resume();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /DROP TABLE IF EXISTS "RateLimitVerify\w+", "RateLimitVerify\w+Override";/,
    );
    expect(stderr).toMatch(
      /\nthe database has stopped answering \(.*\), which says nothing about limits/,
    );
    expect(stdout).not.toContain("NOT hold");
  });

  it("makes nothing unasked where it cannot ask", async () => {
    await using database = await createSqlite();
    const run = await runCommand(ROOT, ["verify", "--url", database.url]);
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(/This is not a terminal, so it cannot ask\. Run it with --yes\n$/);
  });

  it.each([
    ["in the contract", "Uses the tables", 1],
    // npx passes on what its child has got from the terminal, too.
    ["in the race, by way of npx", "race ", 2],
  ])("removes everything when Ctrl-C stops it %s", async (_, line, times) => {
    await using database = await createPostgres();
    const before = await tablesOf(database, "postgresql");
    const child = spawn(process.execPath, [MAIN, "verify", "--yes", "--url", database.url], {
      cwd: ROOT,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const wasReached = stdout.includes(line);
      stdout += text;
      if (wasReached || !stdout.includes(line)) return;
      for (let i = 0; i < times; i++) setTimeout(() => child.kill("SIGINT"), 50 * i);
    });
    const [code] = (await once(child, "close")) as [number];
    expect({ code, stderr }).toEqual({ code: 1, stderr: "stopped by SIGINT\n" });
    expect(stdout).not.toContain("To paste into an issue");
    expect(await tablesOf(database, "postgresql")).toEqual(before);
    // The processes of the race have ended, and their connections with them.
    await vi.waitFor(
      async () => {
        const others = await database.prisma.$queryRawUnsafe(
          "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%RateLimitVerify%'" +
            " AND pid <> pg_backend_pid()",
        );
        expect(others).toEqual([]);
      },
      { timeout: 30_000 },
    );
  });
});
