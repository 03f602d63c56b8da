import { createHash } from "node:crypto";
import { PrismaPg } from "@prisma/adapter-pg";
import { expect, it, onTestFinished } from "vitest";
import { PrismaClient } from "../../../../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../../../../server/index.js";
import { createPostgres } from "../../../../support/database.js";
import { describeSqlStore, isThorough } from "../../sql-contract.js";

const create = () => createPostgres();

describeSqlStore("pg", "pgStore on PostgreSQL", create);
if (isThorough) {
  describeSqlStore("postgresql", "prismaStore on PostgreSQL", create);
  describeSqlStore("pg and prisma", "prismaStore with a pool on PostgreSQL", create);
  describeSqlStore("pool of prisma", "prismaStore with the pool of its adapter", create);
}

it("prismaStore prepares its statements if the adapter names them", async () => {
  await using database = await createPostgres();
  const adapter = new PrismaPg(
    { connectionString: database.url, max: 1 },
    { statementNameGenerator: ({ sql }) => createHash("sha1").update(sql).digest("hex") },
  );
  const prisma = new PrismaClient({ adapter });
  onTestFinished(() => prisma.$disconnect());
  const limits = { few: { kind: "token bucket", rate: 3, period: MINUTE } } as const;
  const limiter = createRateLimiter({ store: prismaStore(prisma), limits });
  for (let i = 0; i < 4; i++) expect((await limiter.limit("few")).ok).toBe(i < 3);
  const prepared = await prisma.$queryRaw<{ text: string }[]>`
    SELECT statement AS text FROM pg_prepared_statements WHERE statement LIKE '%INSERT INTO%'`;
  expect(prepared.length).toBeGreaterThan(0);
});
