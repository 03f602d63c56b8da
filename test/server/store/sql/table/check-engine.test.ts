/**
 * Engines that speak the language of a database are told apart by the version that they report. The
 * versions here were published by the engines' users. None of these engines was run.
 */
import { describe, expect, it } from "vitest";
import { createRateLimiter, MINUTE, sqlStore } from "../../../../../server/index.js";
import { DatabaseClock } from "../../../../../server/store/sql/table/database-clock.js";
import { postgresql } from "../../../../../server/store/sql/postgresql/postgresql.js";
import type { DialectName, SqlDriver } from "../../../../../server/store/sql/driver.js";

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

const TYPES: Record<DialectName, [text: string, number: string]> = {
  postgresql: ["text", "float8"],
  mysql: ["varchar", "double"],
  sqlite: ["TEXT", "REAL"],
};

interface Recorded {
  driver: SqlDriver<SqlDriver>;
  /** The statements, by the isolation of their transaction. */
  sent: { text: string; level: string | undefined }[];
}

/**
 * A connection to an engine that reports a version. It has a table of rate limits, without rows.
 *
 * @param conflicts how many transactions meet a conflict.
 */
function engine(
  dialect: DialectName,
  version: string,
  knowsCatalogs = true,
  conflicts = 0,
): Recorded {
  const sent: Recorded["sent"] = [];
  const [text, number] = TYPES[dialect];
  const columns = Object.entries({
    name: text,
    key: text,
    shard: "int",
    used: number,
    ts: number,
  });
  const connect = (level?: string): SqlDriver<SqlDriver> => {
    const driver: SqlDriver<SqlDriver> = {
      dialect,
      async query(statement) {
        sent.push({ text: statement, level });
        if (/^SELECT \S+ AS "version"$/.test(statement)) return [{ version }];
        if (level === "Serializable" && statement.includes("INSERT") && conflicts-- > 0) {
          throw Object.assign(new Error("restart transaction"), { code: "40001" });
        }
        if (statement.includes("INSERT")) return [{ name: "once", key: "", shard: 0 }];
        if (statement.includes("lock_timeout")) return [{ timeout: "0" }];
        if (!/pg_class|information_schema|pragma/.test(statement)) return [];
        if (!knowsCatalogs) throw new Error("function to_jsonb(record) does not exist");
        return columns.map(([name, type]) => ({
          name,
          type,
          found: true,
          version,
          primary: "name,key,shard",
        }));
      },
      execute: async (statement) => sent.push({ text: statement, level }) - sent.length,
      transaction: (run, { isolationLevel }) => run(connect(isolationLevel)),
      within: (tx) => tx,
    };
    return driver;
  };
  return { driver: connect(), sent };
}

const limiterOn = ({ driver }: Recorded) =>
  createRateLimiter({ store: sqlStore(driver), limits, logger: false });

describe("a store refuses", () => {
  it.each<[DialectName, version: string, message: RegExp]>([
    [
      "mysql",
      "8.0.11-TiDB-v7.5.0 TiDB Server (Apache License 2.0)",
      /TiDB cannot keep limits: .*JSON_TABLE/,
    ],
    [
      "mysql",
      "8.0.30-Vitess Version: 18.0.0-SNAPSHOT",
      /Vitess \(PlanetScale\) cannot .*JSON_TABLE/,
    ],
    [
      "mysql",
      "5.7.32 SingleStoreDB source distribution (compatible; MySQL Enterprise & MySQL Commercial)",
      /SingleStore cannot keep limits/,
    ],
    ["mysql", "5.7.25-OceanBase_CE-v4.2.1.2", /OceanBase cannot keep limits/],
    [
      "mysql",
      "5.7.44-log MySQL Community Server (GPL)",
      /MySQL before 8\.0\.17 cannot .*JSON_TABLE/,
    ],
    ["mysql", "8.0.16 MySQL Community Server - GPL", /MySQL before 8\.0\.17 cannot .*DOUBLE/],
    ["mysql", "10.5.23-MariaDB-0+deb11u1 Debian 11", /MariaDB before 10\.6 cannot .*JSON_TABLE/],
    [
      "postgresql",
      "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2 20041017 (Red Hat 3.4.2-6.fc3), Redshift 1.0.48042",
      /Amazon Redshift cannot keep limits: .*row locks/,
    ],
    ["postgresql", "PostgreSQL 16", /Amazon Aurora DSQL cannot keep limits: .*Serializable/],
    ["postgresql", "PostgreSQL 14.1", /Google Spanner cannot keep limits/],
    [
      "postgresql",
      "PostgreSQL 11.22 (Debian 11.22-1) on x86_64-pc-linux-gnu",
      /PostgreSQL before 12\.0 cannot/,
    ],
    [
      "postgresql",
      "PostgreSQL 11.2-YB-2.6.1.0-b0 on x86_64-pc-linux-gnu, compiled by gcc (Homebrew gcc 5.5.0_4) 5.5.0, 64-bit",
      /YugabyteDB before 15\.0 cannot/,
    ],
    [
      "postgresql",
      "CockroachDB CCL v22.2.19 (x86_64-unknown-linux-gnu)",
      /CockroachDB before 23\.1 cannot .*DELETE … USING/,
    ],
    ["sqlite", "3.37.2", /SQLite before 3\.38 cannot/],
  ])("on %s what reports %s", async (dialect, version, message) => {
    const refused = expect.objectContaining({
      kind: "StoreFailure",
      message: expect.stringMatching(message) as string,
    }) as Error;
    // An old SQLite does not understand the statement that looks the table up.
    const recorded = engine(dialect, version, dialect !== "sqlite");
    const limiter = limiterOn(recorded);
    await expect(limiter.limit("once")).rejects.toEqual(refused);
    await expect(limiter.transaction(({ limit }) => limit("once"))).rejects.toEqual(refused);
    const error: unknown = await limiter.limit("once").catch((reason: unknown) => reason);
    expect(String(error)).toContain(`it reports "${version}"`);
    // The version is a column of the one statement that checks the table. SQLite is asked for it
    // when that fails.
    expect(recorded.sent).toHaveLength(dialect === "sqlite" ? 6 : 3);
  });

  it("an engine that does not know the catalogs, by its name", async () => {
    const redshift = engine("postgresql", "PostgreSQL 8.0.2 on i686, Redshift 1.0.48042", false);
    await expect(limiterOn(redshift).limit("once")).rejects.toThrow("Amazon Redshift cannot");
    const other = engine("postgresql", "PostgreSQL 15.2 on x86_64", false);
    await expect(limiterOn(other).limit("once")).rejects.toThrow("to_jsonb(record) does not exist");
  });
});

describe("a store works", () => {
  it.each<[DialectName, version: string]>([
    ["mysql", "8.0.36-0ubuntu0.22.04.1 (Ubuntu)"],
    ["mysql", "9.1.0 MySQL Community Server - GPL"],
    ["mysql", "10.6.16-MariaDB-1:10.6.16+maria~ubu2004 mariadb.org binary distribution"],
    ["mysql", "11.4.2-MariaDB MariaDB Server"],
    ["postgresql", "PostgreSQL 12.17 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit"],
    ["postgresql", "PostgreSQL 18beta1 on x86_64-pc-linux-gnu, compiled by gcc, 64-bit"],
    ["postgresql", "CockroachDB CCL v23.1.11 (x86_64-pc-linux-gnu, built 2023/09/27)"],
    ["postgresql", "PostgreSQL 15.12-YB-2.25.2.0-b0 on x86_64-pc-linux-gnu, compiled by clang"],
    ["postgresql", "PostgreSQL 15.12-YB-2025.1.0.1-b3 on x86_64-pc-linux-gnu, compiled by clang"],
    ["postgresql", "CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu, built 2025/06/04)"],
    ["postgresql", "an engine of tomorrow"],
    ["sqlite", "3.45.1"],
  ])("on %s with what reports %s", async (dialect, version) => {
    const recorded = engine(dialect, version);
    expect((await limiterOn(recorded).getValue("once")).value).toBe(1);
    expect(recorded.sent).toHaveLength(2);
  });

  it("on YugabyteDB without the locks that it refuses in Serializable transactions", async () => {
    const lockTextsOn = async (version: string) => {
      const recorded = engine("postgresql", version);
      await limiterOn(recorded).transaction(({ limit }) => limit("once"));
      return recorded.sent.flatMap(({ text, level }) =>
        level === "Serializable" ? (text.match(/NOWAIT|SKIP LOCKED/g) ?? []) : [],
      );
    };
    expect(await lockTextsOn("PostgreSQL 15.12-YB-2.25.2.0-b0 on x86_64")).toEqual([]);
    expect(await lockTextsOn("PostgreSQL 15.12 on x86_64")).toContain("NOWAIT");
  });

  it("on CockroachDB without turns, which its locks cannot keep", async () => {
    const turnsOn = async (version: string) => {
      const recorded = engine("postgresql", version, true, 6);
      const { ok } = await limiterOn(recorded).transaction(({ limit }) => limit("once"));
      expect(ok).toBe(true);
      return recorded.sent.filter(({ text }) => text.includes("FOR KEY SHARE")).length;
    };
    expect(await turnsOn("CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)")).toBe(0);
    expect(await turnsOn("PostgreSQL 15.12 on x86_64")).toBeGreaterThan(0);
  });

  it("on CockroachDB with one kind of write in a statement", () => {
    const statementsOn = (version: string) =>
      postgresql.statements({ name: "RateLimit" }, new DatabaseClock(), version);
    expect(statementsOn("PostgreSQL 15.12 on x86_64").writeAtOnce).toBeDefined();
    const onCockroach = statementsOn("CockroachDB CCL v25.2.1 (x86_64-pc-linux-gnu)");
    expect(onCockroach.writeAtOnce).toBeUndefined();
  });
});
