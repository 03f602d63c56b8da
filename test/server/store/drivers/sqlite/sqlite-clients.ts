/** The promises of sqliteStore beyond the contract of stores, on each synchronous client. */
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, MINUTE, sqliteStore } from "../../../../../server/index.js";
import type { Decision, RowId } from "../../../../../server/index.js";
import { createSqlite } from "../../../../support/database.js";
import {
  openSynchronous,
  type SqliteClientName,
  type SynchronousOptions,
} from "../../../../support/open-sqlite.js";

const limits = { few: { kind: "fixed window", rate: 10, period: MINUTE, start: 0 } } as const;

export function describeSynchronous(name: Exclude<SqliteClientName, "libsql">): void {
  async function setUp(options: SynchronousOptions = {}) {
    const database = await createSqlite();
    const opened = new Set<ReturnType<typeof openSynchronous>>();
    const open = () => {
      const connection = openSynchronous(name, database.url, options);
      opened.add(connection);
      return connection;
    };
    const db = open();
    db.exec("CREATE TABLE posts (title TEXT)");
    onTestFinished(async () => {
      // Some are closed already, which better-sqlite3 and Bun accept.
      for (const each of opened) if (isOpen(each)) each.close();
      await database[Symbol.asyncDispose]();
    });
    const store = sqliteStore(db, { open });
    return { database, db, open, store, limiter: createRateLimiter({ store, limits }) };
  }
  const posts = (db: ReturnType<typeof openSynchronous>) =>
    db.prepare("SELECT title FROM posts").all().length;

  describe(`sqliteStore on ${name}`, () => {
    it("passes a connection to the callback of `transaction`, and rolls back when the callback throws", async () => {
      const { db, limiter } = await setUp();
      const post = (fails: boolean) =>
        limiter.transaction(async ({ tx, limit }) => {
          await limit("few", { throws: true });
          tx.prepare("INSERT INTO posts VALUES ('first')").run();
          if (fails) throw new Error("post failed");
        });
      await post(false);
      await expect(post(true)).rejects.toThrow("post failed");
      expect(posts(db)).toBe(1);
      expect((await limiter.getValue("few")).value).toBe(9);
    });

    it("keeps what other requests write while a transaction is open that is rolled back", async () => {
      const { db, limiter } = await setUp();
      db.exec("PRAGMA journal_mode = WAL");
      const failing = limiter.transaction(async ({ limit }) => {
        const outside = limiter.limit("few", { key: "outside" });
        // The transaction has not written yet, but it has the database's lock.
        expect(() => db.exec("INSERT INTO posts VALUES ('other')")).toThrow(/locked/);
        await limit("few", { key: "inside" });
        return Promise.reject(Object.assign(new Error("post failed"), { outside }));
      });
      const error = (await failing.catch((reason: unknown) => reason)) as {
        outside: Promise<{ ok: boolean }>;
      };
      expect((await error.outside).ok).toBe(true);
      db.exec("INSERT INTO posts VALUES ('other')");
      expect(posts(db)).toBe(1);
      expect((await limiter.getValue("few", { key: "outside" })).value).toBe(9);
      expect((await limiter.getValue("few", { key: "inside" })).value).toBe(10);
    });

    it("runs transactions of one process one after the other, without blocking the process", async () => {
      const { limiter } = await setUp();
      const grants = await Promise.all(
        Array.from({ length: 20 }, () =>
          limiter.transaction(async ({ limit }) => {
            await new Promise((resolve) => setImmediate(resolve));
            return (await limit("few")).ok;
          }),
        ),
      );
      expect(grants.filter(Boolean)).toHaveLength(10);
    });

    it("ends a transaction that takes too long, and refuses its later statements", async () => {
      const { db, limiter } = await setUp();
      let later: unknown;
      let ended = () => {};
      const end = new Promise<void>((resolve) => (ended = resolve));
      const slow = limiter.transaction(
        async ({ tx, limit }) => {
          await limit("few", { throws: true });
          await slowly;
          try {
            tx.prepare("INSERT INTO posts VALUES ('late')").run();
          } catch (error) {
            later = error;
          }
          ended();
        },
        { timeout: 20, retryFor: 0 },
      );
      const slowly = slow.catch(() => {});
      await expect(slow).rejects.toThrow("the transaction took longer than 20 ms");
      await end;
      expect(String(later)).toMatch(/not open|closed database/);
      expect(posts(db)).toBe(0);
      expect((await limiter.getValue("few")).value).toBe(10);
    });

    it("refuses `transaction` without `open`, and says what to do", async () => {
      const { db } = await setUp();
      const limiter = createRateLimiter({ store: sqliteStore(db), limits });
      await expect(limiter.transaction(async () => {})).rejects.toThrow(
        /give sqliteStore the option open.*or use @libsql\/client/,
      );
      expect((await limiter.limit("few")).ok).toBe(true);
    });

    it("refuses an `open` that returns the store's own connection", async () => {
      const { db } = await setUp();
      const store = sqliteStore(db, { open: () => db });
      const limiter = createRateLimiter({ store, limits });
      await expect(limiter.transaction(async () => {})).rejects.toThrow(
        /open must be a function that opens another connection/,
      );
      expect(() => db.prepare("SELECT 1").all()).not.toThrow();
    });

    it("joins a transaction that the caller began on a connection of its own", async () => {
      const { open, limiter } = await setUp();
      const own = open();
      await expect(limiter.using(own).limit("few")).rejects.toThrow(/BEGIN IMMEDIATE first/);
      own.exec("BEGIN IMMEDIATE");
      expect((await limiter.using(own).limit("few", { count: 4 })).ok).toBe(true);
      own.exec("ROLLBACK");
      expect((await limiter.getValue("few")).value).toBe(10);
    });

    it("does not join a transaction on the connection that all requests share", async () => {
      const { db, limiter } = await setUp();
      db.exec("BEGIN");
      expect(() => limiter.using(db)).toThrow(/other requests use that one meanwhile/);
      db.exec("ROLLBACK");
    });

    it("decides only after a transaction that the application has open on the connection", async () => {
      const { db, limiter } = await setUp();
      await limiter.limit("few");
      db.exec("BEGIN");
      db.exec("INSERT INTO posts VALUES ('first')");
      let answered = false;
      const call = limiter.limit("few", { count: 4 }).then(() => (answered = true));
      for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(answered).toBe(false);
      db.exec("ROLLBACK");
      await call;
      expect((await limiter.getValue("few")).value).toBe(5);
    });

    it("decides while the application iterates over the rows of a statement", async () => {
      const { db, limiter } = await setUp();
      db.exec("INSERT INTO posts VALUES ('first'), ('second')");
      const calls: Promise<unknown>[] = [];
      for (const _ of db.prepare("SELECT * FROM posts").iterate()) {
        calls.push(limiter.limit("few"));
        for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
      }
      await Promise.all(calls);
      expect((await limiter.getValue("few")).value).toBe(8);
    });

    it("decides for each row over which the application iterates, and leaves the client as strict as it was", async () => {
      const { db, limiter } = await setUp();
      db.exec("INSERT INTO posts VALUES ('first'), ('second')");
      const answers: boolean[] = [];
      for (const _ of db.prepare("SELECT * FROM posts").iterate()) {
        answers.push((await limiter.limit("few", { count: 6 })).ok);
        await limiter.check("few");
        // better-sqlite3 refuses it here, and the others do not.
        if (name === "better-sqlite3") expect(() => db.exec("BEGIN")).toThrow(/busy/);
      }
      expect(answers).toEqual([true, false]);
      expect((await limiter.getValue("few")).value).toBe(4);
    });

    it("tries again where another process writes while the application iterates over older rows", async () => {
      const { db, open, limiter } = await setUp();
      db.exec("PRAGMA journal_mode = WAL");
      db.exec("INSERT INTO posts VALUES ('first'), ('second')");
      const peer = createRateLimiter({ store: sqliteStore(open()), limits });
      let call: Promise<{ ok: boolean }> | undefined;
      for (const _ of db.prepare("SELECT * FROM posts").iterate()) {
        if (call !== undefined) continue;
        await peer.limit("few", { count: 6 });
        // The rows that are seen here are those of before.
        call = limiter.limit("few", { count: 6 });
        for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve));
      }
      expect((await call!).ok).toBe(false);
      expect((await limiter.getValue("few")).value).toBe(4);
    });

    it.each(["WAL", "DELETE"])(
      "answers a denial and a check while another process writes, with journal_mode %s",
      async (mode) => {
        const { db, open, limiter } = await setUp();
        db.exec(`PRAGMA journal_mode = ${mode}`);
        await limiter.limit("few", { count: 10 });
        const other = open();
        other.exec("BEGIN IMMEDIATE");
        other.exec("INSERT INTO posts VALUES ('other')");
        expect((await limiter.limit("few")).ok).toBe(false);
        expect((await limiter.check("few", { key: "new" })).ok).toBe(true);
        const waiting = limiter.limit("few", { key: "new" });
        await new Promise((resolve) => setTimeout(resolve, 20));
        other.exec("COMMIT");
        expect((await waiting).ok).toBe(true);
      },
    );

    it("checks where nothing can be written, also beside a call that fails for that", async () => {
      const { db, limiter } = await setUp();
      await limiter.limit("few", { count: 4 });
      db.exec("PRAGMA query_only = ON");
      const [check, call] = await Promise.allSettled([limiter.check("few"), limiter.limit("few")]);
      expect(check).toMatchObject({ status: "fulfilled", value: { ok: true, value: 5 } });
      expect(call).toMatchObject({ status: "rejected", reason: { name: "RateLimitStoreError" } });
      expect(db.inTransaction ?? db.isTransaction).toBe(false);
      db.exec("PRAGMA query_only = OFF");
      expect((await limiter.getValue("few")).value).toBe(6);
    });

    it("decides the calls of one tick in one transaction, and fails none for its neighbour", async () => {
      const { store, limiter } = await setUp();
      await limiter.limit("few", { key: "warm" });
      const batches: unknown[] = [];
      store.onBatch!(({ way, calls, rows }) => batches.push([way, calls, rows]));
      const throwing: Decision<void> = {
        rows: [{ name: "few", key: "9", shard: 0 }],
        decide() {
          throw new Error("a clock that fails");
        },
      };
      const calls = Array.from({ length: 20 }, (_, i) =>
        limiter.limit("few", { key: `${i % 10}` }),
      );
      await expect(store.apply([throwing])).rejects.toThrow("a clock that fails");
      expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true);
      expect(batches).toEqual([["decide", 21, 10]]);
      expect((await limiter.getValue("few", { key: "9" })).value).toBe(8);
    });

    it("checks the table again after it was dropped", async () => {
      const { db, limiter } = await setUp();
      await limiter.limit("few");
      const [{ sql }] = db
        .prepare("SELECT sql FROM sqlite_master WHERE name = 'RateLimit'")
        .all() as [{ sql: string }];
      db.exec(`DROP TABLE "RateLimit"`);
      await expect(limiter.limit("few")).rejects.toThrow(/RateLimit/);
      db.exec(sql);
      expect((await limiter.limit("few")).ok).toBe(true);
    });

    it("loses no write of the application between the statements of a transaction of its own", async () => {
      const { db, open } = await setUp();
      const stores = [db, open()].map((each) => sqliteStore(each));
      const id = (key: string): RowId => ({ name: "moved", key, shard: 0 });
      /** Deletes one row and writes another, which takes several statements. */
      const move = (from: string, to: string): Decision<void> => ({
        rows: [id(from), id(to)],
        decide: ([a, b]) => ({
          result: undefined,
          writes: [null, { used: (a?.used ?? 0) + (b?.used ?? 0), ts: 0 }],
        }),
      });
      const start = { result: undefined, writes: [{ used: 7, ts: 0 }] };
      await stores[0]!.apply([{ rows: [id("a")], decide: () => start }]);
      let moving = true;
      let written = 0;
      const writing = (async () => {
        while (moving) {
          db.prepare("INSERT INTO posts VALUES ('other')").run();
          written++;
          // A microtask, so that it runs between two statements of the store.
          if (written % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
          else await Promise.resolve();
        }
      })();
      for (let i = 0; i < 20; i++) {
        await Promise.all([stores[0]!.apply([move("a", "b")]), stores[1]!.apply([move("b", "a")])]);
      }
      moving = false;
      await writing;
      expect(written).toBeGreaterThan(20);
      expect(posts(db)).toBe(written);
      const sum = { rows: [id("a"), id("b")], decide: sumOf };
      expect(await stores[0]!.apply([sum])).toEqual([7]);
    });

    it("works where the application reads integers as bigints", async () => {
      const { db, limiter } = await setUp({ bigints: true });
      const [row] = db.prepare("SELECT 1 AS one").all() as { one: unknown }[];
      expect(row!.one).toBe(1n);
      const { ok } = await limiter.limit("few", { key: "k" });
      expect(ok).toBe(true);
      await limiter.transaction(({ limit }) => limit("few", { key: "k", count: 2 }));
      expect((await limiter.getValue("few", { key: "k" })).value).toBe(7);
      await limiter.reset("few", { key: "k" });
      expect(await limiter.prune()).toBe(0);
    });
  });
}

function sumOf(states: readonly ({ used: number } | null)[]): { result: number } {
  return { result: states.reduce((sum, state) => sum + (state?.used ?? 0), 0) };
}

function isOpen(db: object): boolean {
  const { isOpen: isOpened = true } = db as { isOpen?: boolean };
  return isOpened;
}
