/** Each kind of store, fresh, for tests of what all of them can do. */
import { memoryStore, prismaStore, type RateLimitStore } from "../../server/index.js";
import { createPostgres, createSqlite } from "./database.js";

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
];

async function onPrisma(
  opening: ReturnType<typeof createSqlite> | ReturnType<typeof createPostgres>,
): Promise<OpenStore> {
  const database = await opening;
  return {
    store: prismaStore(database.prisma) as RateLimitStore,
    peer: prismaStore(database.connect()) as RateLimitStore,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}
