/**
 * Reads the text of every statement that the dialects send, while they pass the contract and while a
 * limiter uses all of its methods. The rules allow only what databases with the language of PostgreSQL or
 * MySQL have in common, and check that no write can lose another write.
 */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../core/testing.js";
import {
  createRateLimiter,
  MINUTE,
  prismaStore,
  type RateLimitStore,
  SECOND,
} from "../../server/index.js";
import { createMysql, createPostgres, createSqlite, mysqlUrl } from "../support/database.js";
import type { TestDatabase } from "../support/database.js";
import { recordStatements } from "../support/record-statements.js";
import { describeStore } from "../server/store/contract.js";

const databases: [name: string, create: () => Promise<TestDatabase>][] = [
  ["SQLite", createSqlite],
  ["PostgreSQL", () => createPostgres()],
];
// Without it, `test/server/store/sql/mysql/mysql.test.ts` reports a skipped test.
if (mysqlUrl !== undefined) databases.push(["MySQL or MariaDB", () => createMysql()]);

const limits = {
  bucket: { kind: "token bucket", rate: 5, period: SECOND, maxReserved: 5 },
  window: { kind: "fixed window", rate: 5, period: SECOND },
} as const;
const keys = ["a", "b", "c"];

/** Uses all methods of a limiter, alone and in competition with a second one. */
async function useAll(stores: readonly RateLimitStore[]): Promise<void> {
  const clock = createManualClock();
  const limiters = stores.map((store) => createRateLimiter({ store, limits, clock }));
  const [limiter] = limiters;
  for (const name of ["bucket", "window"] as const) {
    await limiter!.limit(name, { key: "alone" });
    const both = keys.map((key) => ({ name, key }));
    const all = [both, both.toReversed()];
    await Promise.all(
      limiters.flatMap((each) =>
        keys.flatMap((key) => [
          each.limit(name, { key }),
          each.limit(name, { key, count: 2, reserve: name === "bucket" }),
          each.limitAll(all[limiters.indexOf(each)]!),
          each.refund(name, { key }),
          each.transaction(({ limit }) => limit(name, { key })),
          each.reset(name, { key }),
        ]),
      ),
    );
  }
  await Promise.all(keys.map((key) => limiter!.limit("bucket", { key })));
  clock.advance(10 * MINUTE);
  expect(await limiter!.prune()).toBeGreaterThan(0);
}

/** The text without the words that only name a lock, or the second half of an insert. */
function withoutLocks(text: string): string {
  return text
    .replaceAll(/FOR (NO KEY )?UPDATE|DO UPDATE|ON DUPLICATE KEY UPDATE/g, "")
    .replace(/^UPDATE .* SET "?ts"? = "?ts"? WHERE 0$/, "");
}

const unquoted = (text: string) => text.replaceAll(/["`]/g, "").replaceAll(/\s+/g, " ");

/** Of overrides, the last word counts, so their writes have no guard. */
const isOfOverrides = (text: string) => /\bRateLimitOverride\b/.test(text);

const rules: [rule: string, isKept: (text: string) => boolean][] = [
  ["never name the address of a row", (text) => !/\bctid\b/i.test(text)],
  ["name each column", (text) => !/(SELECT|RETURNING|,) (\w+\.)?\*/i.test(text)],
  [
    "have one kind of write",
    (text) => {
      const kinds = withoutLocks(text).match(/\b(INSERT|UPDATE|DELETE)\b/g);
      return new Set(kinds).size <= 1;
    },
  ],
  [
    "update and delete under a guard",
    (text) => {
      const [, write] = /\b(?:UPDATE|DELETE)\b(.*)/.exec(withoutLocks(text)) ?? [];
      if (write === undefined) return true;
      const condition = write.replace(/\bSET .*?(?= FROM | WHERE |$)/, "");
      const isUnchanged = /\bused = /.test(condition) && /\bts = /.test(condition);
      // Prune deletes rows that are full, and tests that in the condition.
      return isUnchanged || condition.includes("CASE WHEN abs(t.used)");
    },
  ],
  [
    "upsert under a condition",
    (text) => {
      const [, condition] = /(?:DO UPDATE|ON DUPLICATE KEY UPDATE)(.*)/.exec(text) ?? [];
      if (condition === undefined || / WHERE |<=|NOT IN/.test(condition)) return true;
      // On SQLite and MariaDB, the select that supplies the rows holds the lock and the condition.
      // On both MySQL and MariaDB, inserts fail at a duplicate, by a number that is out of range.
      return hasSource(text) || condition.startsWith(" ts = EXP(9999 ");
    },
  ],
];

/** The rules that are about rows of limits alone. */
const GUARDED = new Set(["update and delete under a guard", "upsert under a condition"]);

/** Whether the rows to insert are selected by a condition. */
function hasSource(text: string): boolean {
  return /SELECT .* (<= (most|CAST|i\.most)|NOT IN \(SELECT group FROM lost\))/.test(text);
}

describe.each(databases)("on %s, all statements", (name, create) => {
  const texts = new Set<string>();
  async function open() {
    const database = await create();
    const stores = [1, 2].map(() => prismaStore(recordStatements(database.connect(), texts)));
    const [store, peer] = stores as [RateLimitStore, RateLimitStore];
    return { store, peer, close: () => database[Symbol.asyncDispose]() };
  }

  describeStore(`prismaStore on ${name}, recorded,`, open);

  it("are recorded while a limiter uses all of its methods", async () => {
    const { store, peer, close } = await open();
    await useAll([store, peer]);
    await close();
    const kinds = [...texts].map((text) => withoutLocks(text).match(/INSERT|UPDATE|DELETE/)?.[0]);
    expect(new Set(kinds)).toEqual(
      new Set([undefined, "INSERT", "DELETE", ...(name === "SQLite" ? [] : ["UPDATE"])]),
    );
    expect(texts.size).toBeGreaterThan(12);
  });

  it.each(rules)("%s", (rule, isKept) => {
    const broken = [...texts].map(unquoted).filter((text) => !isKept(text));
    const ofRows = broken.filter((text) => !(GUARDED.has(rule) && isOfOverrides(text)));
    expect(ofRows).toEqual([]);
  });
});
