/** The names of a table and the pages of a name are found by the primary key, without a scan. */
import { describe, expect, it } from "vitest";
import { LAST_SHARD, type RateLimitStore } from "../../../../server/store/store.js";
import { prismaStore } from "../../../../server/index.js";
import type { Client } from "../../../support/clients.js";
import {
  createMysql,
  createPostgres,
  createSqlite,
  intercept,
  mysqlUrl,
} from "../../../support/database.js";

type Sent = { text: string; params: unknown[] };

/** What `names` and `list` send on a table of 3 names with 5,000 keys each. */
async function record(prisma: Client): Promise<Sent[]> {
  const sent: Sent[] = [];
  const recorded = intercept(prisma as never, async (text, params) => {
    sent.push({ text, params });
  });
  const store = prismaStore(recorded) as RateLimitStore;
  for (const name of ["a", "b", "c"]) {
    const rows = Array.from({ length: 5000 }, (_, i) => ({ name, key: `key ${i}`, shard: 0 }));
    await store.apply(
      rows.map((row) => ({
        rows: [row],
        decide: () => ({ result: undefined, writes: [{ used: 1, ts: 1 }] }),
      })),
    );
  }
  sent.length = 0;
  const names: string[] = [];
  for await (const name of store.names!()) names.push(name);
  expect(names).toEqual(["a", "b", "c"]);
  expect(await store.list!("b", undefined, 1000)).toHaveLength(1000);
  expect(await store.list!("b", { name: "b", key: "key 4500", shard: -1 }, 5)).toHaveLength(5);
  expect(await store.list!("b", { name: "b", key: "key 4500", shard: LAST_SHARD }, 5)).toHaveLength(
    5,
  );
  expect(sent).toHaveLength(7);
  return sent;
}

describe("names and list read the entries of the index that they need, and no others,", () => {
  it("on SQLite", async () => {
    await using database = await createSqlite();
    const { prisma } = database;
    for (const { text, params } of await record(prisma)) {
      const plan = await prisma.$queryRawUnsafe(`EXPLAIN QUERY PLAN ${text}`, ...params);
      const shown = JSON.stringify(plan, (_, value) => (typeof value === "bigint" ? 0 : value));
      expect(shown).toMatch(
        text.includes("WHERE") ? /"SEARCH \w+ USING COVERING/ : /"SCAN \w+ USING COVERING/,
      );
      expect(shown).not.toContain("TEMP B-TREE");
    }
  });

  it.each(["without", "with"])("on PostgreSQL %s statistics", async (statistics) => {
    await using database = await createPostgres();
    const { prisma } = database;
    await prisma.$queryRawUnsafe(`ALTER TABLE "RateLimit" SET (autovacuum_enabled = false)`);
    const sent = await record(prisma);
    if (statistics === "with") await prisma.$queryRawUnsafe(`ANALYZE "RateLimit"`);
    for (const { text, params } of sent) {
      const plan = await prisma.$queryRawUnsafe(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        ...params,
      );
      const [, limit] = /"Plan":(.*)/.exec(JSON.stringify(plan)) ?? [];
      expect(limit).toMatch(/"Node Type":"Index (Only )?Scan"/);
      expect(limit).not.toMatch(/Sort|Seq Scan|Bitmap/);
    }
  });

  it.skipIf(mysqlUrl === undefined)("on MySQL or MariaDB", async () => {
    await using database = await createMysql();
    const { prisma } = database;
    for (const { text, params } of await record(prisma)) {
      // The counters are those of a session.
      const [count] = await prisma.$transaction(async (tx) => {
        const read = async () => {
          const rows = (await tx.$queryRawUnsafe(
            "SHOW SESSION STATUS LIKE 'Handler_read_next'",
          )) as {
            Value: string;
          }[];
          return Number(rows[0]!.Value);
        };
        const before = await read();
        const rows = (await tx.$queryRawUnsafe(text, ...params)) as unknown[];
        return [(await read()) - before - rows.length];
      });
      expect(count).toBeLessThan(5);
    }
  });
});
