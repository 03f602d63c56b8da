/** The contract of a store, for `prismaStore` on one kind of database. */
import { prismaStore } from "../../server/index.js";
import type { MysqlClient, PostgresClient, SqliteClient } from "../support/clients.js";
import type { TestDatabase } from "../support/database.js";
import { describeStore } from "./contract.js";

/** The ways in which `prismaStore` writes; both have to pass. */
const isolations = [
  ["guarded", {}],
  ["serializable", { isolation: "serializable" }],
] as const;

export function describePrismaStore(
  name: string,
  create: () => Promise<TestDatabase<SqliteClient | PostgresClient | MysqlClient>>,
): void {
  for (const [isolation, options] of isolations) {
    describeStore(`prismaStore on ${name}, ${isolation},`, async () => {
      const database = await create();
      return {
        store: prismaStore(database.prisma, options),
        peer: prismaStore(database.connect(), options),
        close: () => database[Symbol.asyncDispose](),
      };
    });
  }
}
