import { createClient } from "@libsql/client";
import { expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, sqliteStore } from "../../../../../server/index.js";
import { createSqlite } from "../../../../support/database.js";

const limits = { few: { kind: "fixed window", rate: 10, period: DAY } } as const;

/** A client of a plain file, without `reconnect` as in 0.8.1, and with this message for `sync`. */
function asEarlier(url: string, message: string): ReturnType<typeof createClient> {
  const client = createClient({ url });
  onTestFinished(() => client.close());
  return Object.assign(client, {
    sync: () => Promise.reject(new Error(message)),
    reconnect: undefined,
  });
}

it.each(["Sync is not supported in databases opened in File mode.", 'SyncNotSupported("File")'])(
  "takes a plain file of a version that answers %s",
  async (message) => {
    await using database = await createSqlite();
    const store = sqliteStore(asEarlier(database.url, message));
    expect(await createRateLimiter({ store, limits }).limit("few")).toMatchObject({ ok: true });
  },
);

it("refuses an embedded replica, whose sync fails for another reason", async () => {
  await using database = await createSqlite();
  const store = sqliteStore(asEarlier(database.url, "fetch failed"));
  const limiter = createRateLimiter({ store, limits });
  await expect(limiter.limit("few")).rejects.toThrow(/embedded replicas/);
});

it("loses no write after SQLITE_BUSY on a version without reconnect", async () => {
  await using database = await createSqlite();
  const client = asEarlier(database.url, 'SyncNotSupported("File")');
  const other = createClient({ url: database.url });
  onTestFinished(() => other.close());
  const limiter = createRateLimiter({ store: sqliteStore(client), limits });
  await limiter.limit("few");

  const lock = await other.transaction("write");
  const waiting = limiter.limit("few");
  await new Promise((resolve) => setTimeout(resolve, 50));
  await lock.rollback();

  expect(await waiting).toMatchObject({ ok: true, value: 8 });
  await client.execute("UPDATE RateLimit SET used = 5 WHERE name = 'few'");
  const { rows } = await other.execute("SELECT used FROM RateLimit WHERE name = 'few'");
  expect(rows).toMatchObject([{ used: 5 }]);
});
