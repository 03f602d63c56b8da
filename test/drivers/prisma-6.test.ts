import { describe, expect, it, onTestFinished } from "vitest";
import { takeTokens } from "../../core/decide.js";
import type { Row } from "../../core/rows/row.js";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  DAY,
  MINUTE,
  prismaStore,
  RateLimitStoreError,
} from "../../server/index.js";
import type { PrismaRaw } from "../../server/store/drivers/prisma/prisma-client.js";
import { prisma6Connection } from "../../server/store/drivers/prisma/prisma-6.js";
import type { Dialect } from "../../server/store/sql/dialect.js";
import { mysql } from "../../server/store/sql/mysql/mysql.js";
import { postgresql } from "../../server/store/sql/postgresql/postgresql.js";
import { sqlite } from "../../server/store/sql/sqlite/sqlite.js";
import type { Decision } from "../../server/store/store.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  mysqlUrl,
  type TestDatabase,
} from "../support/database.js";
import { openStore } from "../support/open-store.js";
import {
  connectPoolOfPrisma6,
  connectPrisma6,
  hasPrisma6,
  NO_PRISMA_6,
} from "../support/prisma-6.js";
import { recordStatements } from "../support/record-statements.js";
import { describeSqlStore } from "../server/store/sql-contract.js";
import { findMismatches, statementsOf, xorshift } from "../server/store/sql/differential.js";

interface Database {
  name: string;
  kind: "sqlite" | "postgresql" | "mysql";
  create: () => Promise<TestDatabase>;
  dialect: Dialect;
}

const databases: Database[] = [
  { name: "SQLite", kind: "sqlite", create: createSqlite, dialect: sqlite },
  {
    name: "PostgreSQL",
    kind: "postgresql",
    create: () => createPostgres(),
    dialect: postgresql,
  },
];
if (mysqlUrl === undefined) {
  it("passes with Prisma 6 on MariaDB", ({ skip }) => skip("TEST_MYSQL_URL is not set"));
} else {
  databases.push({ name: "MariaDB", kind: "mysql", create: () => createMysql(), dialect: mysql });
}
if (!hasPrisma6) it("passes with Prisma 6", ({ skip }) => skip(NO_PRISMA_6));
const available = hasPrisma6 ? databases : [];

for (const { name, kind, create } of available) {
  describeSqlStore(`prisma 6 ${kind}`, `prismaStore with Prisma 6 on ${name}`, create);
}

it.runIf(hasPrisma6)("prismaStore finds the pool of Prisma 6's adapter", async () => {
  const database = await createPostgres();
  const { pool, prisma } = connectPoolOfPrisma6(database.url);
  onTestFinished(async () => {
    await prisma.$disconnect();
    await pool.end();
    await database[Symbol.asyncDispose]();
  });
  const texts = new Set<string>();
  const store = prismaStore(recordStatements(prisma as never, texts));
  const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
  const limiter = createRateLimiter({ store, limits });
  await limiter.limit("few", { count: 0.1 });
  await prisma.$disconnect();
  expect(await limiter.limit("few", { count: 2 })).toMatchObject({ ok: true });
  expect([...texts]).toEqual([]);
  await limiter.transaction(({ limit }) => limit("few", { throws: true }));
  expect(Math.floor((await limiter.getValue("few")).value)).toBe(6);
});

it.runIf(hasPrisma6)("Prisma 6 keeps its connections when a COMMIT fails", async () => {
  const database = await createPostgres();
  const prisma = connectPrisma6("postgresql", database.url, 1);
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => prisma.$disconnect());
  // A constraint that is looked at in COMMIT.
  await database.prisma.$executeRaw`
    CREATE TABLE orders (id INT, UNIQUE (id) DEFERRABLE INITIALLY DEFERRED)`;
  const limits = { few: { kind: "token bucket", rate: 10, period: DAY } } as const;
  const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
  const order = () =>
    limiter.transaction(async ({ limit, tx }) => {
      await limit("few");
      await (tx as unknown as PrismaRaw).$executeRawUnsafe("INSERT INTO orders VALUES (1), (1)");
    });
  for (let failures = 0; failures < 3; failures++) {
    const error = await order().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(RateLimitStoreError);
    expect(String((error as Error).cause)).toMatch(/orders_id_key|already exists|unique/i);
  }
  expect(await limiter.limit("few")).toMatchObject({ ok: true, value: 9 });
});

describe.each(available)("Prisma 6 on $name", ({ kind, create, dialect }) => {
  /** A store of each version on one table, as during a rolling deployment. */
  async function openBoth() {
    const database = await create();
    const opened = ([`prisma 6 ${kind}`, kind] as const).map((each) =>
      openStore(each, database.url),
    );
    onTestFinished(async () => {
      await Promise.all(opened.map(({ close }) => close()));
      await database[Symbol.asyncDispose]();
    });
    return opened.map(({ store }) => store);
  }

  it("shares rows with Prisma 7 in turn, and loses no bit of their numbers", async () => {
    const stores = await openBoth();
    const row = { name: "deployment", key: "key", shard: 0 };
    const random = xorshift(11);
    let last: Row | null = null;
    for (let turn = 0; turn < 60; turn++) {
      const next = { used: anyDouble(random), ts: anyDouble(random) };
      // The write is guarded by the numbers that the other version wrote.
      const swap: Decision<Row | null> = {
        rows: [row],
        decide: ([state]) => ({ result: state ?? null, writes: [next] }),
      };
      expect(await stores[turn % 2]!.apply([swap])).toEqual([last]);
      last = next;
    }
  });

  it("takes fractions in turn with Prisma 7, and keeps exactly what core calculates", async () => {
    const config = { kind: "token bucket", rate: 1 / 3, period: 7000, capacity: 40 } as const;
    const clock = createManualClock();
    const limiters = (await openBoth()).map((store) =>
      createRateLimiter({ store, limits: { few: config }, clock }),
    );
    let state: Row | null = null;
    for (let turn = 0; turn < 40; turn++) {
      clock.advance(701);
      const result = await limiters[turn % 2]!.limit("few", { count: 0.7 });
      state = takeTokens(state, config, clock(), 0.7, 0)!;
      expect(result).toMatchObject({ ok: true, value: 40 - state.used, ts: state.ts });
    }
  });

  it("grants exactly 37 of 200 simultaneous calls together with Prisma 7", async () => {
    const clock = createManualClock();
    const config = { kind: "token bucket", rate: 37, period: 1000 } as const;
    const limiters = (await openBoth()).map((store) =>
      createRateLimiter({ store, limits: { hot: config }, clock }),
    );
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, i) => limiters[i % 2]!.limit("hot")),
    );
    expect(results.filter(({ ok }) => ok)).toHaveLength(37);
  });

  it(
    "takes exactly what core calculates, to the last bit, in one statement",
    { timeout: 30_000 },
    async () => {
      await using database = await create();
      const prisma = connectPrisma6(kind, database.url);
      onTestFinished(() => prisma.$disconnect());
      const connection = prisma6Connection(prisma, kind);
      const subject = {
        statements: await statementsOf(dialect, connection),
        connection,
        inserts: kind !== "mysql",
        empty: () =>
          connection.execute(
            kind === "mysql" ? "DELETE FROM RateLimit" : `DELETE FROM "RateLimit"`,
            [],
          ),
      };
      const mismatches = await findMismatches(subject, { cases: 4000, seed: 5 });
      expect(mismatches.slice(0, 3)).toEqual([]);
    },
  );

  it("prunes full rows and keeps others", async () => {
    const [old] = await openBoth();
    const clock = createManualClock();
    const config = { kind: "token bucket", rate: 1 / 3, period: 7000, capacity: 40 } as const;
    const limiter = createRateLimiter({ store: old!, limits: { few: config }, clock });
    for (const key of ["a", "b ", "ä"]) await limiter.limit("few", { key, count: 0.1 });
    clock.advance(24 * 3_600_000);
    await limiter.limit("few", { key: "c", count: 39.7 });
    expect(await limiter.prune()).toBe(3);
    expect(await limiter.getValue("few", { key: "c" })).toMatchObject({ value: 40 - 39.7 });
  });

  it("commits tokens with the application's data, or rolls both back", async () => {
    const [old] = await openBoth();
    const limits = { few: { kind: "token bucket", rate: 10, period: 1000 } } as const;
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: old!, limits, clock });
    await limiter.transaction(async (tx) => tx.limit("few", { count: 0.5 }));
    const failed = limiter.transaction(async (tx) => {
      await tx.limit("few", { count: 0.25 });
      throw new Error("undo");
    });
    await expect(failed).rejects.toThrow("undo");
    expect(await limiter.getValue("few")).toMatchObject({ value: 9.5 });
  });
});

// The engine itself was only read. See `test/support/rust-engine.ts`.
describeSqlStore("prisma 6 rust", "prismaStore with typed parameters, as Rust sends them,", () =>
  createPostgres(),
);

describe("the statements for Prisma 6", () => {
  /** A client that records what it is sent. */
  function record(dialect: "postgresql" | "mysql" | "sqlite", rows: object[] = []) {
    const sent: { text: string; params: unknown[] }[] = [];
    const note = (text: string, params: unknown[]) => void sent.push({ text, params });
    const connection = prisma6Connection(
      {
        async $queryRawUnsafe(text, ...params) {
          note(text, params);
          return rows;
        },
        async $executeRawUnsafe(text, ...params) {
          note(text, params);
          return 1;
        },
      },
      dialect,
    );
    return { connection, sent };
  }

  it("send fractions as text with a cast, and whole numbers as they are", async () => {
    const { connection, sent } = record("postgresql");
    await connection.query("SELECT $1, $2 - $1, $3", [0.5, 2, "a"]);
    await connection.execute("SELECT $1::int[], $2::float8[]", [
      [1, 2],
      [3, 3.5],
    ]);
    expect(sent).toEqual([
      {
        text: "SELECT $1::text::float8, $2 - $1::text::float8, $3",
        params: ["0.5", 2, "a"],
      },
      {
        text: "SELECT $1::int[], $2::text[]::float8[]",
        params: [
          [1, 2],
          ["3", "3.5"],
        ],
      },
    ]);
  });

  it("leave names and texts alone that look like placeholders", async () => {
    const postgres = record("postgresql");
    await postgres.connection.query(`SELECT "$1", '$1', $1 FROM "a""$1"`, [0.5]);
    expect(postgres.sent[0]!.text).toBe(`SELECT "$1", '$1', $1::text::float8 FROM "a""$1"`);
    const lite = record("sqlite");
    await lite.connection.execute(`UPDATE "?" SET a = ?, b = ?, c = '?', d = ?`, [1, 1.5, 2 ** 60]);
    expect(lite.sent[0]).toEqual({
      text: `UPDATE "?" SET a = ?, b = CAST(? AS REAL), c = '?', d = CAST(? AS REAL)`,
      params: [1, "1.5", String(2 ** 60)],
    });
    const maria = record("mysql");
    await maria.connection.execute("UPDATE `?` SET a = ? WHERE b = ?", ["x", 1e-7]);
    expect(maria.sent[0]!.text).toBe("UPDATE `?` SET a = ? WHERE b = CAST(? AS DOUBLE)");
  });

  it("return texts of MariaDB with another collation, and order by the column", async () => {
    const { connection, sent } = record("mysql", [{ name_text: "n", key_text: "k", shard: 0 }]);
    const rows = await connection.query("SELECT `name`, `key`, `shard` FROM t ORDER BY `key`", []);
    expect(rows).toEqual([{ name: "n", key: "k", shard: 0 }]);
    expect(sent[0]!.text).toBe(
      "SELECT CONVERT(`name` USING utf8mb4) AS `name_text`, " +
        "CONVERT(`key` USING utf8mb4) AS `key_text`, `shard` FROM t ORDER BY `key`",
    );
  });
});

/** Any finite double, also the smallest and the largest ones. */
function anyDouble(random: () => number): number {
  for (;;) {
    const words = new Uint32Array([random() * 2 ** 32, random() * 2 ** 32]);
    const [double] = new Float64Array(words.buffer);
    if (Number.isFinite(double)) return double!;
  }
}
