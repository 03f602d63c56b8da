/** `whenStoreFails: "allow"` lets no call through if the database works but its set-up is wrong. */
import { describe, expect, it } from "vitest";
import { createRateLimiter, HOUR, RateLimitStoreError } from "../../../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../../../support/database.js";
import { openStore, type StoreKind } from "../../../support/open-store.js";

const limits = {
  open: { kind: "token bucket", rate: 2, period: HOUR, whenStoreFails: "allow" },
} as const;

type Provider = "sqlite" | "postgresql" | "mysql";

const create = {
  sqlite: createSqlite,
  postgresql: () => createPostgres(),
  mysql: () => createMysql(),
};

const kinds: [StoreKind, Provider][] = [
  ["sqlite", "sqlite"],
  ["libsql", "sqlite"],
  ["postgresql", "postgresql"],
  ["pg", "postgresql"],
  ["drizzle postgres-js", "postgresql"],
  ["kysely pg", "postgresql"],
];
if (mysqlUrl !== undefined) {
  kinds.push(["mysql", "mysql"], ["mysql2", "mysql"], ["mariadb", "mysql"]);
}

const q = (provider: Provider, name: string) =>
  provider === "mysql" ? `\`${name}\`` : `"${name}"`;

const harms: [what: string, ddl: (provider: Provider) => string][] = [
  [
    "the table was renamed",
    (of) => `ALTER TABLE ${q(of, "RateLimit")} RENAME TO ${q(of, "Renamed")}`,
  ],
  [
    "a column is missing",
    (of) =>
      `ALTER TABLE ${q(of, "RateLimit")} RENAME COLUMN ${q(of, "used")} TO ${q(of, "tokens")}`,
  ],
];

describe.each(kinds)("through %s", (kind, provider) => {
  describe.each(harms)("while %s", (_, ddl) => {
    it.each([true, false])("fails every call (a process that has used it: %s)", async (hasUsed) => {
      await using database = await create[provider]();
      const opened = openStore(kind, database.url);
      try {
        const limiter = createRateLimiter({
          store: opened.store,
          limits,
          overrides: true,
          logger: false,
        });
        if (hasUsed) await limiter.limit("open");
        await database.prisma.$executeRawUnsafe(ddl(provider));
        const key = "ada";
        const calls = Array.from({ length: 20 }, () => limiter.limit("open", { key }));
        calls.push(
          limiter.check("open"),
          limiter.limitAll([{ name: "open", count: 2 }]) as never,
          limiter.limitFirst(["open"]) as never,
        );
        for (const settled of await Promise.allSettled(calls)) {
          expect(settled).toMatchObject({ status: "rejected", reason: { isOutage: false } });
          expect((settled as PromiseRejectedResult).reason).toBeInstanceOf(RateLimitStoreError);
        }
      } finally {
        await opened.close();
      }
    });
  });

  it("fails every call while the table of overrides is missing", async () => {
    await using database = await create[provider]();
    const opened = openStore(kind, database.url);
    try {
      const limiter = createRateLimiter({
        store: opened.store,
        limits,
        overrides: true,
        logger: false,
      });
      await database.prisma.$executeRawUnsafe(`DROP TABLE ${q(provider, "RateLimitOverride")}`);
      const calls = Array.from({ length: 20 }, () => limiter.limit("open"));
      const passed = (await Promise.allSettled(calls)).filter(
        ({ status }) => status === "fulfilled",
      );
      expect(passed).toEqual([]);
    } finally {
      await opened.close();
    }
  });
});
