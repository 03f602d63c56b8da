/** A process that is busy for longer than its limiter's `timeout`, while its calls are answered. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, DAY, pgStore } from "../../../../server/index.js";
import { blockProcess } from "../../../support/block-process.js";
import { createMysql, createPostgres, mysqlUrl } from "../../../support/database.js";
import { connectPool } from "../../../support/connect-pool.js";
import { openStore } from "../../../support/open-store.js";

/** Long enough for a round trip on a machine whose cores are taken by others. */
const TIMEOUT = 1500;
const limits = {
  one: { kind: "token bucket", rate: 1, period: DAY, whenStoreFails: "allow" },
  many: { kind: "token bucket", rate: 1000, period: DAY },
} as const;

const databases = [
  ["pg", () => createPostgres()],
  ["postgresql", () => createPostgres()],
  ...(mysqlUrl === undefined ? [] : [["mysql2", () => createMysql()] as const]),
] as const;

describe.each(databases)("in a process that is busy for too long (%s)", (kind, create) => {
  async function start() {
    const database = await create();
    const { store, close } = openStore(kind, database.url);
    onTestFinished(() => database[Symbol.asyncDispose]());
    onTestFinished(() => close());
    const limiter = createRateLimiter({ store, limits, timeout: TIMEOUT, logger: false });
    for (let isTaken = false; !isTaken;) isTaken = !("storeFailed" in (await limiter.limit("one")));
    return limiter;
  }

  it("an exhausted limit denies, although it lets calls pass while the store fails", async () => {
    const limiter = await start();
    const denied = limiter.limit("one");
    blockProcess(2 * TIMEOUT);
    expect(await denied).toMatchObject({ ok: false });
    const sent = limiter.limit("one");
    await setImmediate();
    blockProcess(2 * TIMEOUT);
    expect(await sent).toMatchObject({ ok: false });
  });

  it("a call that was answered does not fail", async () => {
    const limiter = await start();
    const sent = limiter.limit("many");
    await setImmediate();
    blockProcess(2 * TIMEOUT);
    expect(await sent).toMatchObject({ ok: true });
  });
});

/** The time after which a connection without an answer is destroyed, ms. */
const SILENT_AFTER = 5000;

it("keeps a connection whose answer arrived while the process was busy", async () => {
  await using database = await createPostgres();
  const pool = connectPool(database.url, 1);
  onTestFinished(() => pool.end());
  const limiter = createRateLimiter({ store: pgStore(pool), limits, timeout: 60_000 });
  await limiter.limit("many");
  let removed = 0;
  pool.on("remove", () => removed++);
  const sent = limiter.limit("many");
  await setImmediate();
  blockProcess(SILENT_AFTER + 200);
  expect(await sent).toMatchObject({ ok: true });
  expect(removed).toBe(0);
});
