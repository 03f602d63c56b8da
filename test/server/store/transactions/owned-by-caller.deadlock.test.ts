import { describe, expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  DAY,
  type MysqlPoolLike,
  mysqlStore,
} from "../../../../server/index.js";
import { isConflict } from "../../../../server/store/sql/mysql/errors.js";
import { createMysql, mysqlUrl } from "../../../support/database.js";
import { connectMariadb, connectMysql2 } from "../../../support/open-mysql.js";

const config = { kind: "fixed window", rate: 20, period: DAY, start: 0 } as const;
const limits = { left: config, right: config, posts: config, comments: config } as const;

interface TestPool extends MysqlPoolLike {
  query(sql: string): Promise<unknown>;
  end(): Promise<void>;
}

describe.skipIf(mysqlUrl === undefined).each([
  ["mysql2", (url: string): TestPool => connectMysql2(url, { connectionLimit: 4 })],
  ["mariadb", (url: string): TestPool => connectMariadb(url, { connectionLimit: 4 })],
])("using on MySQL or MariaDB, through %s", (_client, connect) => {
  it("charges nothing after a deadlock has rolled the caller's transaction back", async () => {
    await using database = await createMysql();
    const pool = connect(database.url);
    onTestFinished(() => pool.end());
    const limiter = createRateLimiter({ store: mysqlStore(pool), limits });
    for (const name of ["left", "right", "posts", "comments"] as const) await limiter.limit(name);
    // Among a handful of rows, a statement reads and locks all of them.
    const others = Array.from({ length: 200 }, (_, i) => limiter.limit("posts", { key: `${i}` }));
    await Promise.all(others);
    await pool.query("ANALYZE TABLE RateLimit");
    const begin = async (first: "left" | "right") => {
      const connection = await pool.getConnection();
      await connection.query({ sql: "START TRANSACTION" });
      const joined = limiter.using(connection);
      await joined.limit(first);
      return { connection, joined };
    };
    const transactions = [await begin("left"), await begin("right")] as const;
    const outcomes = await Promise.all(
      transactions.map(async ({ connection, joined }, i) => {
        // The first call meets the deadlock. The others wait for it, in the same scope and in
        // scopes of their own.
        const calls = await Promise.allSettled([
          joined.limit(i === 0 ? "right" : "left"),
          joined.limit("posts"),
          limiter.using(connection).limit("comments"),
        ]);
        calls.push(...(await Promise.allSettled([joined.limit("posts")])));
        const failed = calls.flatMap((call) => (call.status === "rejected" ? [call.reason] : []));
        await connection.query({ sql: failed.length === 0 ? "COMMIT" : "ROLLBACK" });
        connection.release();
        return failed;
      }),
    );
    const [committed, rolledBack] = outcomes.toSorted((a, b) => a.length - b.length);
    expect(committed).toEqual([]);
    expect(rolledBack!.map(isConflict)).toEqual([true, true, true, true]);
    expect((await limiter.getValue("posts")).value).toBe(19 - 2);
    for (const name of ["left", "right", "comments"] as const) {
      expect((await limiter.getValue(name)).value).toBe(19 - 1);
    }
    // The next transaction on the same connection is another one.
    const { connection, joined } = await begin("left");
    await joined.limit("posts");
    await connection.query({ sql: "ROLLBACK" });
    connection.release();
  });
});
