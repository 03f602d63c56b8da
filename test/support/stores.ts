/**
 * Each kind of store, fresh, for tests of what all of them can do. MySQL's is there where
 * TEST_MYSQL_URL names a server; `test/store/mysql.test.ts` says so where it is not.
 */
import { memoryStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "./database.js";

export interface OpenStore {
  store: RateLimitStore;
  /** A store on the same rows as another process would have; the same one where rows are private. */
  peer: RateLimitStore;
  [Symbol.asyncDispose](): Promise<void>;
}

export const stores: [name: string, open: () => Promise<OpenStore>][] = [
  [
    "memory",
    async () => {
      const store = memoryStore() as RateLimitStore;
      return { store, peer: store, async [Symbol.asyncDispose]() {} };
    },
  ],
  ["SQLite", () => onPrisma(createSqlite())],
  ["PostgreSQL", () => onPrisma(createPostgres())],
  ...(mysqlUrl === undefined
    ? []
    : ([["MySQL or MariaDB", () => onPrisma(createMysql())]] satisfies typeof stores)),
];

async function onPrisma(
  opening: ReturnType<typeof createSqlite | typeof createPostgres | typeof createMysql>,
): Promise<OpenStore> {
  const database = await opening;
  return {
    store: prismaStore(database.prisma) as RateLimitStore,
    peer: prismaStore(database.connect()) as RateLimitStore,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
