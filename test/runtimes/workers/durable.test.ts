/** `durableStore` inside a Durable Object of workerd. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ContractResult } from "./run-contract.js";
import { hasWorkerd, NO_WORKERD, startWorker, type StartedWorker } from "./start-worker.js";

let worker: StartedWorker;
beforeAll(async () => {
  if (!hasWorkerd) return;
  worker = await startWorker(new URL("limits-worker.ts", import.meta.url), {
    d1Databases: ["DB"],
    durableObjects: {
      LIMITS: { className: "Limits", useSQLite: true },
      OLD: { className: "LimitsWithoutSqlite", useSQLite: false },
    },
  });
});
afterAll(() => worker?.[Symbol.asyncDispose]());

async function ask<TResult>(path: string, body?: string): Promise<TResult> {
  const response = await worker.fetch(path, body === undefined ? {} : { method: "POST", body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text || "null") as TResult;
}

const sql = (text: string) => ask<object[]>("durable/sql", text);

describe.skipIf(!hasWorkerd)(`durableStore${hasWorkerd ? "" : `: ${NO_WORKERD}`}`, () => {
  it("passes the contract of stores, but for transactions", async () => {
    const results = await ask<ContractResult[]>("durable/contract");
    expect(results.filter(({ failure }) => failure !== undefined)).toEqual([]);
    const passed = results.filter(({ skipped }) => skipped === undefined);
    expect(passed).toHaveLength(33);
    for (const { title, skipped } of results) {
      if (skipped !== undefined) console.info(`skipped: ${title}: ${skipped}`);
    }
  });

  it("creates its table, also after the application has deleted it", async () => {
    await sql('DROP TABLE IF EXISTS "RateLimit"');
    for (let round = 0; round < 2; round++) {
      expect(await ask("durable/limit?key=made")).toBe(true);
      expect(await ask("durable/value?key=made")).toBe(36);
      await sql('DROP TABLE "RateLimit"');
    }
  });

  it("keeps its rows when the object starts again", async () => {
    expect(await ask("durable/limit?key=kept")).toBe(true);
    await ask("durable/abort").catch(() => {});
    expect(await ask("durable/value?key=kept")).toBe(36);
  });

  it("says what is wrong with a table of that name that is not one of limits", async () => {
    await sql('DROP TABLE IF EXISTS "RateLimit"');
    await sql('CREATE TABLE "RateLimit" ("id" TEXT PRIMARY KEY)');
    await ask("durable/abort").catch(() => {});
    await expect(ask("durable/limit")).rejects.toThrow(/is not a table of rate limits/);
    await sql('DROP TABLE "RateLimit"');
  });

  it("resets and prunes", async () => {
    await ask("durable/limit?key=gone");
    await ask("durable/reset?key=gone");
    expect(await ask("durable/value?key=gone")).toBe(37);
    await sql(`INSERT INTO "RateLimit" VALUES ('few', 'full', 0, 37, 0)`);
    expect(await ask("durable/prune")).toBe(1);
  });

  it("says that it has no transactions, and what to do instead", async () => {
    const instead =
      /nothing can be awaited inside a transaction of a Durable Object; call limit\(\) first/;
    await expect(ask("durable/transaction")).rejects.toThrow(instead);
    await expect(ask("durable/using")).rejects.toThrow(instead);
  });

  it("refuses an object without SQLite, and names the setting", async () => {
    await expect(ask("old/limit")).rejects.toThrow(/new_sqlite_classes/);
  });
});
