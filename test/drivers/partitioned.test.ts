/** A table in partitions, where the address of a row does not identify it. */
import { createPostgres } from "../support/database.js";
import { describeSqlStore } from "../server/store/sql-contract.js";

describeSqlStore("pg", "pgStore on a partitioned table", async () => {
  const database = await createPostgres();
  const { prisma } = database;
  const run = (sql: string) => prisma.$executeRawUnsafe(sql);
  await run(`ALTER TABLE "RateLimit" RENAME TO whole`);
  await run(
    `CREATE TABLE "RateLimit" (LIKE whole INCLUDING DEFAULTS,
       PRIMARY KEY ("name", "key", "shard")) PARTITION BY HASH ("name", "key")`,
  );
  for (let i = 0; i < 3; i++) {
    await run(
      `CREATE TABLE part${i} PARTITION OF "RateLimit" FOR VALUES WITH (MODULUS 3, REMAINDER ${i})`,
    );
  }
  await run("DROP TABLE whole");
  return database;
});
