/** Runs the contract of stores on one kind of database, in each isolation. */
import type { TestDatabase } from "../support/database.js";
import { openStore, type StoreKind } from "../support/open-store.js";
import { describeStore } from "./contract.js";

/** A SQL store writes with guards or in Serializable transactions. Both have to pass. */
const isolations = ["guarded", "serializable"] as const;

export function describeSqlStore(
  kind: StoreKind,
  name: string,
  create: () => Promise<TestDatabase>,
): void {
  for (const isolation of isolations) {
    describeStore(`${name}, ${isolation},`, async () => {
      const database = await create();
      const options = isolation === "serializable" ? { isolation } : {};
      const opened = [1, 2].map(() => openStore(kind, database.url, options));
      return {
        store: opened[0]!.store,
        peer: opened[1]!.store,
        async close() {
          await Promise.all(opened.map(({ close }) => close()));
          await database[Symbol.asyncDispose]();
        },
      };
    });
  }
}
