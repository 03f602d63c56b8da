import { setTimeout } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY } from "../../../../server/index.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import { openStore } from "../../../support/open-store.js";

const limits = { many: { kind: "token bucket", rate: 1000, period: DAY } } as const;

const databases = [
  ["pg", () => createPostgres()],
  ["postgresql", () => createPostgres()],
  ["drizzle pg", () => createPostgres()],
  ["kysely pg", () => createPostgres()],
  ...(mysqlUrl === undefined
    ? []
    : [["mysql2", () => createMysql()] as const, ["mysql", () => createMysql()] as const]),
] as const;

/** More than a store opens at a time, so that some have to wait. */
const TRANSACTIONS = 9;

describe.each(databases)("transactions through %s", (kind, create) => {
  it.each([Infinity, 2 ** 31])("may take and wait for %d ms", async (ms) => {
    const database = await create();
    const { store, close } = openStore(kind, database.url, { connections: 4 });
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => close());
    const limiter = createRateLimiter({ store, limits });
    const transactions = Array.from({ length: TRANSACTIONS }, (_, i) =>
      limiter.transaction(
        async ({ limit }) => {
          const { ok } = await limit("many", { key: `${i}` });
          // Longer than a timer that ends at once.
          await setTimeout(30);
          return ok;
        },
        { timeout: ms, maxWait: ms, retryFor: ms },
      ),
    );
    expect(await Promise.all(transactions)).toEqual(Array(TRANSACTIONS).fill(true));
  });
});
