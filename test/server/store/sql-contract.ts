/** Runs the contract of stores on one kind of database, in each isolation. */
import { afterAll, describe } from "vitest";
import type { SqliteClient } from "../../support/clients.js";
import type { TestDatabase } from "../../support/database.js";
import { openStore, type StoreKind } from "../../support/open-store.js";
import { describeStore } from "./contract.js";

/** Whether all kinds and isolations of a store are wanted, or those that a change breaks first. */
export const isThorough = process.env["TEST_STORES"] !== "few";
/** A SQL store writes with guards or in Serializable transactions. Both have to pass. */
const isolations = isThorough ? (["guarded", "serializable"] as const) : (["guarded"] as const);

/**
 * @param create called once on a server: each test gets the same database, with an empty table. A
 * file is created for each test, which is quick.
 */
export function describeSqlStore(
  kind: StoreKind,
  name: string,
  create: () => Promise<TestDatabase>,
): void {
  describe(`${name}:`, () => {
    let creating: Promise<TestDatabase> | undefined;
    afterAll(async () => (await creating)?.[Symbol.asyncDispose]());

    for (const isolation of isolations) {
      describeStore(`${name}, ${isolation},`, async () => {
        const database = await (creating ??= create());
        const isFile = database.url.startsWith("file:");
        if (isFile) creating = undefined;
        else await (database.prisma as SqliteClient).rateLimit.deleteMany();
        const options = isolation === "serializable" ? { isolation } : {};
        const opened = [1, 2].map(() => openStore(kind, database.url, options));
        return {
          store: opened[0]!.store,
          peer: opened[1]!.store,
          async close() {
            await Promise.all(opened.map(({ close }) => close()));
            if (isFile) await database[Symbol.asyncDispose]();
          },
        };
      });
    }
  });
}
