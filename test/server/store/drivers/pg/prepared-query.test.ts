import pg from "pg";
import { describe, expect, it, onTestFinished } from "vitest";
import type { PgClientLike } from "../../../../../server/store/drivers/pg/pg-client.js";
import { pgDriver } from "../../../../../server/store/drivers/pg/pg-driver.js";
import { createPostgres } from "../../../../support/database.js";

interface Prepared {
  connection: { describe(message: object): void; parsedStatements: Record<string, string> };
}

async function setUp(config: pg.PoolConfig = {}) {
  const database = await createPostgres();
  const pool = new pg.Pool({ connectionString: database.url, max: 1, ...config });
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(() => pool.end());
  /** How often `pg` has asked for the columns of a statement. */
  let described = 0;
  pool.on("connect", (client) => {
    const { connection } = client as unknown as Prepared;
    const { describe: send } = connection;
    connection.describe = (message) => {
      described++;
      send.call(connection, message);
    };
  });
  return { pool, driver: pgDriver(pool), described: () => described };
}

/** What a client can have in place of a connection of `pg`. */
const SHOWN: [string, { stream: { cork?(): void } } | undefined][] = [
  ["no connection", undefined],
  ["a connection that has prepared nothing", { stream: { cork() {} } }],
  ["a stream that cannot be corked", { stream: {} }],
];

/** Values that differ in their text, and the type of a column for each. */
const ODD: Record<string, unknown[]> = {
  text: ["", "NULL", "{}", 'a "quoted" \\ text', "comma, ", "ü 🙂", "\n", "'; DROP TABLE x"],
  int4: [0, -1, 2 ** 31 - 1],
  int8: [0, 2 ** 53],
  float8: [0, 1 / 3, -1e-300, 1.7976931348623157e308, 5e-324, Infinity, 1_795_970_092_422],
  numeric: [0.1],
  bool: [true, false],
  varchar: ["x"],
};

describe("a prepared query", () => {
  it("asks for the columns of a statement once, and then sends it without", async () => {
    const { driver, described } = await setUp();
    const rows = [];
    for (let i = 0; i < 5; i++) rows.push(await driver.query("SELECT $1::int4 AS i", [i]));
    expect(rows).toEqual([[{ i: 0 }], [{ i: 1 }], [{ i: 2 }], [{ i: 3 }], [{ i: 4 }]]);
    expect(described()).toBe(1);
  });

  it.each(Object.entries(ODD))("reads and sends %s as pg does", async (type, values) => {
    const { driver, described } = await setUp();
    for (const value of [...values, null]) {
      const text = `SELECT $1::${type} AS one, $2::${type}[] AS list`;
      const single = `SELECT $1::${type} AS one, array_length($2::${type}[], 1) AS n, ($2::${type}[])[1] AS first`;
      const params = [value, [value, ...values, null]];
      const own = await driver.query(single, params);
      const again = await driver.query(single, params);
      expect(again).toEqual(own);
      // A list is no type that the package reads, so it stays with pg.
      const lists = [await driver.query(text, params), await driver.query(text, params)];
      expect(lists[1]).toEqual(lists[0]);
    }
    // One for the statement, and each of those that stay.
    expect(described()).toBe(1 + 2 * (values.length + 1));
  });

  it("sends doubles to the last bit, by their bytes and by their text", async () => {
    const { driver, described } = await setUp();
    const text =
      "SELECT encode(float8send($2), 'hex') AS bits, encode(float8send($3), 'hex') AS more, $1::text AS t";
    for (const value of [...(ODD["float8"] as number[]), -0, 1e21]) {
      const params = ["a", value, 0.1];
      const byText = await driver.query(text, params);
      expect(await driver.query(text, params, undefined, 1)).toEqual(byText);
    }
    expect(described()).toBe(1);
  });

  it("counts the rows that it has written", async () => {
    const { driver } = await setUp();
    await driver.execute("CREATE TABLE few (n int)", []);
    const insert = "INSERT INTO few SELECT generate_series(1, $1::int)";
    for (const n of [3, 0, 5]) expect(await driver.execute(insert, [n])).toBe(n);
    for (const n of [8, 0]) expect(await driver.execute("DELETE FROM few", [])).toBe(n);
    for (let i = 0; i < 3; i++) {
      expect(await driver.execute("SET lock_timeout = 60", [])).toBe(0);
    }
    expect(await driver.query("SELECT n FROM few", [])).toEqual([]);
    expect(await driver.query("SELECT n FROM few", [])).toEqual([]);
  });

  it("rejects with the error of the server, and the connection goes on", async () => {
    const { driver, pool, described } = await setUp();
    const text = "SELECT 1 / $1::int AS n";
    for (let i = 0; i < 3; i++) {
      expect(await driver.query(text, [1])).toEqual([{ n: 1 }]);
      await expect(driver.query(text, [0])).rejects.toMatchObject({
        code: "22012",
        severity: "ERROR",
      });
    }
    expect(described()).toBe(1);
    expect(pool.totalCount).toBe(1);
  });

  it("rejects when the server ends the connection, and the next call gets another one", async () => {
    const { driver } = await setUp();
    const end =
      "SELECT CASE WHEN $1 = 'end' THEN pg_terminate_backend(pg_backend_pid()) END AS ended";
    await driver.query(end, ["no"]);
    await expect(driver.query(end, ["end"])).rejects.toThrow(/terminat/);
    expect(await driver.query(end, ["no"])).toEqual([{ ended: null }]);
  });

  it("does not wait longer than the query_timeout of the client", async () => {
    const { driver } = await setUp({ query_timeout: 300 });
    const sleep = "SELECT pg_sleep($1::float8)::text AS slept";
    await driver.query(sleep, [0]);
    await expect(driver.query(sleep, [2])).rejects.toThrow("Query read timeout");
  });

  it("is prepared anew after a DISCARD ALL", async () => {
    const { driver, pool } = await setUp();
    for (let i = 0; i < 2; i++) await driver.query("SELECT $1::int AS i", [1]);
    await pool.query("DISCARD ALL");
    for (let i = 0; i < 3; i++) {
      expect(await driver.query("SELECT $1::int AS i", [i])).toEqual([{ i }]);
    }
  });

  it("leaves parameters to pg that are neither texts nor numbers", async () => {
    const { driver, described } = await setUp();
    const day = new Date(Date.UTC(2030, 0, 1));
    const text = "SELECT (extract(epoch FROM $1::timestamptz))::int AS s";
    for (let i = 0; i < 3; i++) {
      expect(await driver.query(text, [day])).toEqual([{ s: day.getTime() / 1000 }]);
    }
    expect(described()).toBe(3);
  });

  it("leaves statements to a client that sends queries before others are answered", async () => {
    const { driver, described } = await setUp({ pipeline: true } as pg.PoolConfig);
    const answers = [0, 1, 2].map((i) => driver.query("SELECT $1::int AS i", [i]));
    expect(await Promise.all(answers)).toEqual([[{ i: 0 }], [{ i: 1 }], [{ i: 2 }]]);
    expect(described()).toBe(3);
  });

  it.each(SHOWN)("leaves statements to a client that shows %s", async (_, shown) => {
    const { pool, described } = await setUp();
    const driver = pgDriver({
      query: (query) => pool.query(query),
      connect: (done) =>
        pool.connect((error, client) => {
          const { parsedStatements } = (client as unknown as Prepared).connection;
          const isParsed = shown?.stream.cork === undefined;
          done(error, {
            query: client!.query.bind(client),
            release: (reason?: Error) => client!.release(reason),
            on: client!.on.bind(client),
            removeListener: client!.removeListener.bind(client),
            connection: shown && { ...shown, parsedStatements: isParsed ? parsedStatements : {} },
          } as unknown as PgClientLike);
        }),
    });
    for (let i = 0; i < 3; i++) {
      expect(await driver.query("SELECT $1::int AS i", [i])).toEqual([{ i }]);
    }
    expect(described()).toBe(3);
  });

  it("tells those who have replaced `query` its text and its parameters, and calls back through them", async () => {
    const { pool, driver } = await setUp();
    const seen: unknown[] = [];
    pool.on("connect", (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => unknown;
      client.query = ((...args: unknown[]) => {
        const config = args[0] as { text: string; values: unknown[]; callback?: Callback };
        const { callback } = config;
        if (callback !== undefined) {
          config.callback = (...answer) => {
            seen.push([config.text, config.values]);
            callback(...answer);
          };
        }
        return query(...args);
      }) as typeof client.query;
    });
    const text = "SELECT $1::text AS t, $2::float8 AS d";
    for (let i = 0; i < 3; i++) {
      expect(await driver.query(text, ["a", i], undefined, 1)).toEqual([{ t: "a", d: i }]);
    }
    // The first one went by a callback of its own.
    expect(seen).toEqual([
      [text, ["a", 1]],
      [text, ["a", 2]],
    ]);
  });
});

type Callback = (...answer: unknown[]) => void;
