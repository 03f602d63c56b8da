/** Stores on `@libsql/client` over HTTP, on a real `sqld`. Its transactions are streams. */
import { fileURLToPath } from "node:url";
import { PrismaLibSql } from "@prisma/adapter-libsql/web";
import { createClient } from "@libsql/client/web";
import { drizzle } from "drizzle-orm/libsql/web";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { readMigrations } from "../../../example-app/shared/server/migrate.js";
import { PrismaClient } from "../../../prisma/generated/client/client.js";
import { drizzleStore } from "../../../server/drizzle/index.js";
import {
  createRateLimiter,
  DAY,
  prismaStore,
  type RateLimitStore,
  sqliteStore,
} from "../../../server/index.js";
import { describeStore } from "../../server/store/contract.js";
import { hasSqld, NO_SQLD, type Sqld, startSqld } from "./start-sqld.js";

const MIGRATIONS = fileURLToPath(new URL("../../../prisma/migrations", import.meta.url));
const limits = { few: { kind: "fixed window", rate: 37, period: DAY, start: 0 } } as const;

describe.skipIf(!hasSqld)(`over HTTP (${NO_SQLD}):`, () => {
  let server: Sqld;
  const opened: (() => unknown)[] = [];
  const connect = () => {
    const client = createClient({ url: server.url });
    opened.push(() => client.close());
    return client;
  };
  const clear = async () => {
    const client = connect();
    await client.batch(['DELETE FROM "RateLimit"', "DELETE FROM posts"], "write");
    return client;
  };

  beforeAll(async () => {
    server = await startSqld();
    const client = connect();
    for (const { statements } of await readMigrations(MIGRATIONS)) {
      for (const statement of statements) await client.execute(statement);
    }
    await client.execute("CREATE TABLE posts (title TEXT, size REAL)");
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((close) => close()));
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const isolations = [undefined, "serializable"] as const;
  const stores: Record<string, (isolation: (typeof isolations)[number]) => RateLimitStore> = {
    sqliteStore: (isolation) => sqliteStore(connect(), { isolation }) as RateLimitStore,
    drizzleStore: (isolation) =>
      drizzleStore(drizzle({ client: connect() }), { isolation }) as RateLimitStore,
    prismaStore: (isolation) => {
      const prisma = new PrismaClient({ adapter: new PrismaLibSql({ url: server.url }) });
      opened.push(() => prisma.$disconnect());
      return prismaStore(prisma, { isolation }) as RateLimitStore;
    },
  };

  for (const [name, open] of Object.entries(stores)) {
    for (const isolation of isolations) {
      const title = `${name}, ${isolation ?? "guarded"},`;
      describeStore(title, async () => {
        await clear();
        return { store: open(isolation), peer: open(isolation), close: async () => {} };
      });

      it(`${title} grants exactly 37 of 200 calls of five limiters`, async () => {
        await clear();
        const limiters = Array.from({ length: 5 }, () =>
          createRateLimiter({ store: open(isolation), limits, timeout: 60_000 }),
        );
        const calls = Array.from({ length: 200 }, (_, i) =>
          limiters[i % 5]!.limit("few", { key: "many" }),
        );
        expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(37);
      });
    }
  }

  const create = () =>
    createRateLimiter({ store: sqliteStore(connect()), limits, timeout: 60_000 });

  it("commits tokens and data together, or neither", async () => {
    const client = await clear();
    const limiters = Array.from({ length: 4 }, create);
    const post = (i: number) =>
      limiters[i % 4]!.transaction(
        async ({ tx, limit }) => {
          await limit("few", { key: "posts", count: 5, throws: true });
          await tx.execute({ sql: "INSERT INTO posts VALUES (?, 0)", args: [`post ${i}`] });
          if (i % 4 === 0) throw new Error("post failed");
        },
        { timeout: 60_000, maxWait: 60_000, retryFor: 60_000 },
      );
    const settled = await Promise.allSettled(Array.from({ length: 16 }, (_, i) => post(i)));
    expect(settled.filter(({ status }) => status === "fulfilled")).toHaveLength(7);
    const { rows } = await client.execute("SELECT count(*) AS posts FROM posts");
    expect(rows[0]!["posts"]).toBe(7);
    expect((await create().getValue("few", { key: "posts" })).value).toBe(2);
  });

  it("joins a transaction that the caller began", async () => {
    const client = await clear();
    const limiter = create();
    for (const end of ["rollback", "commit"] as const) {
      const tx = await client.transaction("write");
      expect(await limiter.using(tx).limit("few", { count: 4 })).toMatchObject({ ok: true });
      await tx[end]();
      expect((await limiter.getValue("few")).value).toBe(end === "commit" ? 33 : 37);
    }
  });

  it("names a table that is missing", async () => {
    const limiter = createRateLimiter({
      store: sqliteStore(connect(), { table: "none" }),
      limits,
    });
    await expect(limiter.limit("few")).rejects.toThrow(/"none" does not exist/);
  });

  it("keeps numbers to the last bit", async () => {
    const client = await clear();
    const bits = new Float64Array(2000);
    crypto.getRandomValues(new Uint8Array(bits.buffer));
    const sent = [...bits].filter(Number.isFinite);
    await client.batch(
      sent.map((size) => ({ sql: "INSERT INTO posts VALUES ('random', ?)", args: [size] })),
      "write",
    );
    const { rows } = await client.execute("SELECT size FROM posts ORDER BY rowid");
    expect(rows.map((row) => row["size"])).toEqual(sent);
    // Read the numbers as the server has them, and not as this client decodes them.
    const { rows: read } = await client.execute(
      "SELECT printf('%!.17g', size) AS text FROM posts ORDER BY rowid",
    );
    expect(read.map((row) => Number(row["text"]))).toEqual(sent);
  });
});
