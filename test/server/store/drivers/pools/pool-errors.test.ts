import { execFile } from "node:child_process";
import { EventEmitter } from "node:events";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { listenToPool } from "../../../../../server/store/drivers/pools/pool-errors.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../../support/database.js";

const PROCESS = fileURLToPath(new URL("../../../../support/lose-connections.ts", import.meta.url));

/** MySQL is left out without TEST_MYSQL_URL, as `test/server/store/sql/mysql/mysql.test.ts` reports. */
const kinds = [
  "pg",
  "pg that keeps one connection",
  "drizzle pg",
  "kysely pg",
  "pg and prisma",
  "postgresql",
  ...(mysqlUrl === undefined ? [] : ["mysql2", "mariadb"]),
];
const isMysql = (kind: string) => kind === "mysql2" || kind === "mariadb";

/** What the process writes, a message of the limiter's logger in each line. */
async function output(kind: string, state: "idle" | "transaction"): Promise<string[]> {
  await using database = await (isMysql(kind) ? createMysql() : createPostgres());
  const args = ["--import", "tsx", PROCESS, kind, database.url, state];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return stdout.trim().split("\n");
}

describe("a process whose pool nothing listens to", { timeout: 40_000 }, () => {
  it.each(kinds)("outlives the end of its idle connections (%s)", async (kind) => {
    const lines = await output(kind, "idle");
    expect(lines.at(-1)).toBe("alive");
    // The pools of Prisma's adapter and of the drivers for MySQL have listeners of their own.
    if (kind === "postgresql" || isMysql(kind)) return;
    expect(lines.slice(0, -1)).toEqual([
      expect.stringMatching(
        /terminating connection due to administrator command.*pool\.on\("error"/,
      ),
    ]);
  });

  it.each(kinds)("outlives the end of a transaction's connection (%s)", async (kind) => {
    expect((await output(kind, "transaction")).at(-1)).toBe("alive");
  });
});

describe("the errors of a pool", () => {
  function start() {
    const pool = new EventEmitter();
    const heard: string[] = [];
    const listen = (name: string) =>
      listenToPool(pool)((error) => heard.push(`${name}: ${(error as Error).message}`));
    return { pool, heard, listen };
  }

  it("reach each limiter of a pool's stores, through one listener", () => {
    const { pool, heard, listen } = start();
    const end = listen("a");
    listen("b");
    expect(pool.listenerCount("error")).toBe(1);
    pool.emit("error", new Error("gone"));
    end();
    pool.emit("error", new Error("gone again"));
    expect(heard).toEqual(["a: gone", "b: gone", "b: gone again"]);
  });

  it("are left to the application if it listens itself", () => {
    const { pool, heard, listen } = start();
    listen("a");
    const own: unknown[] = [];
    pool.on("error", (error) => own.push(error));
    pool.emit("error", new Error("gone"));
    expect(heard).toEqual([]);
    expect(own).toHaveLength(1);
  });
});
