/**
 * Rows of older versions: today's code answers by them as those versions did, and writes the same. The
 * rows on MySQL or MariaDB need TEST_MYSQL_URL; `test/server/store/sql/mysql/mysql.test.ts` reports if it
 * is missing.
 */
import { describe, expect, it } from "vitest";
import { memoryStore, type RateLimitStore } from "../../server/index.js";
import { rowId } from "../../server/store/store.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import { openStore } from "../support/open-store.js";
import { loadFixtures, type Provider } from "./fixtures.js";
import { calculationsOf, play, type RecordedHistory, type Row, rowsOf } from "./histories.js";

interface Opened {
  store: RateLimitStore;
  insert(rows: readonly Row[]): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function openMemory(): Promise<Opened> {
  const store = memoryStore() as RateLimitStore;
  return {
    store,
    async insert(rows) {
      const decisions = rows.map(({ name, key, shard, used, ts }) => ({
        rows: [rowId(name, key, shard)],
        decide: () => ({ result: undefined, writes: [{ used, ts }] }),
      }));
      await store.apply(decisions);
    },
    async [Symbol.asyncDispose]() {},
  };
}

const create = { sqlite: createSqlite, postgresql: createPostgres, mysql: createMysql };

/** @param table the statements that make the table. @default the migrations of today */
async function openDatabase(
  provider: Provider,
  table?: readonly string[],
  hasMoreColumns = false,
): Promise<Opened> {
  const database = await create[provider]();
  const { prisma } = database;
  const quote = (name: string) => (provider === "mysql" ? `\`${name}\`` : `"${name}"`);
  if (table !== undefined) {
    for (const name of ["RateLimit", "RateLimitOverride"]) {
      await prisma.$executeRawUnsafe(`DROP TABLE ${quote(name)}`);
    }
    for (const statement of table) await prisma.$executeRawUnsafe(statement);
  }
  if (hasMoreColumns) {
    await prisma.$executeRawUnsafe(`ALTER TABLE ${quote("RateLimit")} ADD COLUMN note VARCHAR(9)`);
  }
  const { store, close } = openStore(provider, database.url);
  return {
    store,
    async insert(rows) {
      const columns = ["name", "key", "shard", "used", "ts"].map(quote).join(", ");
      for (const { name, key, shard, used, ts } of rows) {
        await prisma.$executeRawUnsafe(
          `INSERT INTO ${quote("RateLimit")} (${columns}) ` +
            `VALUES ('${name}', '${key}', ${shard}, ${double(used)}, ${double(ts)})`,
        );
      }
    },
    async [Symbol.asyncDispose]() {
      await close();
      await database[Symbol.asyncDispose]();
    },
  };
}

async function answersByRows({ store, insert }: Opened, history: RecordedHistory) {
  await insert(history.rows);
  return play(store, history.limits, history.later);
}

/** An exponent makes it a double, and not a decimal. */
function double(value: number): string {
  const text = String(value);
  return text.includes("e") ? text : `${text}e0`;
}

const databases: Provider[] = ["sqlite", "postgresql", ...(mysqlUrl ? (["mysql"] as const) : [])];

describe.each(loadFixtures())("rows of version $version", ({ histories, tables }) => {
  const places: [place: string, open: () => Promise<Opened>][] = [
    ["in memory", openMemory],
    ...databases.flatMap((provider): [string, () => Promise<Opened>][] => [
      [`on ${provider}, in that version's table`, () => openDatabase(provider, tables[provider])],
      [`on ${provider}, in today's table`, () => openDatabase(provider)],
      [`on ${provider}, with a further column`, () => openDatabase(provider, undefined, true)],
    ]),
  ];

  describe.each(places)("%s", (_place, open) => {
    it("are answered as they were", async () => {
      await using opened = await open();
      for (const history of histories) {
        const answers = await answersByRows(opened, history);
        // Results may have more fields today.
        expect(answers, `in the history of ${history.title}`).toMatchObject(history.laterResults);
      }
    });

    it("are written by the same calls today", async () => {
      await using opened = await open();
      for (const { title, limits, steps, results, rows } of histories) {
        expect(await play(opened.store, limits, steps), `in the history of ${title}`).toMatchObject(
          results,
        );
        expect(await rowsOf(opened.store, limits), `in the history of ${title}`).toEqual(rows);
      }
    });
  });

  it("are calculated with as they were, by browsers of today", () => {
    for (const history of histories) {
      expect(calculationsOf(history, history.rows), `in the history of ${history.title}`).toEqual(
        history.calculations,
      );
    }
  });

  it("show an answer that is not by the row", async () => {
    await using opened = await openMemory();
    const history = histories[0]!;
    const changed = history.rows.map((row) => ({ ...row, ts: row.ts + 1000 }));
    const answers = await answersByRows(opened, { ...history, rows: changed });
    expect(() => expect(answers).toMatchObject(history.laterResults)).toThrow("to match object");
  });
});
