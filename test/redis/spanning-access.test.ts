/**
 * Writes on rows of several tags whose parts arrive late, in a real cluster, while another process wants
 * the rows: either all parts are written, or none.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, DAY } from "../../server/index.js";
import { redisPort } from "../../server/redis/clients/recognize-client.js";
import { HOLD, RedisRows } from "../../server/redis/redis-rows.js";
import { createScriptRunner, scriptShas } from "../../server/redis/run-script.js";
import { SCRIPTS } from "../../server/redis/scripts.js";
import { createSpanningAccess } from "../../server/redis/spanning-access.js";
import { createTags } from "../../server/redis/tags.js";
import type { Row } from "../../core/rows/row.js";
import type { RowStatements } from "../../server/store/row-access.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import type { Write } from "../../server/store/plan-writes.js";
import { rowKey } from "../../server/store/store.js";
import { newPrefix } from "./open-redis-store.js";
import { redisStore } from "../../server/redis/index.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClient } from "./redis-clients.js";
import { type RedisCluster, startCluster, until } from "./redis-cluster.js";
import { missingForRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);
const TAGS = 12;
const config = { kind: "token bucket", rate: 100, period: DAY } as const;

describe.runIf(missing !== undefined)("a decision on rows of several tags", () => {
  it("is written as a whole, or not at all", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("a decision on rows of several tags", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  /** Two processes. Each command of the first process must pass `through`, which may hold it back. */
  async function open() {
    const prefix = newPrefix();
    const tags = createTags(prefix, TAGS);
    const shas = await scriptShas();
    const { client, close } = await testedClient("ioredis 5 Cluster").open(cluster.ports);
    const port = redisPort(client);
    const frozen = Date.now();
    const other = createRateLimiter({
      store: redisStore(client, { prefix, tags: TAGS }),
      limits: { calls: config },
      timeout: 30_000,
      clock: () => frozen,
    });
    const gate = { through: async (_place: number, _isWrite: boolean) => {} };
    const rows = Array.from({ length: TAGS }, (_, place) => {
      const send: typeof port.send = async (args, key) => {
        await gate.through(place, [shas.get("write"), SCRIPTS.write].includes(args[1]));
        return port.send(args, key);
      };
      const clock = new DatabaseClock();
      const options = { port: { ...port, send }, tags, place, clock, shas, wait: undefined };
      return new RedisRows(tags, createScriptRunner(options));
    });
    await Promise.all(rows.map(({ runner }) => runner.readTime()));
    const access = createSpanningAccess(
      tags,
      (place) => rows[place]!,
      () => undefined,
    );
    const row = (key: string) => ({ name: "calls", key, shard: 0, config });
    // Three rows of one tag: one to be debited, one to be deleted, one that is only guarded. The fourth
    // row has another tag.
    const all = Array.from({ length: 200 }, (_, i) => `key ${i}`);
    const near = all.filter((key) => tags.placeOf(row(key)) === 0).slice(0, 3);
    const far = all.find((key) => tags.placeOf(row(key)) === 7)!;
    const keys = [...near, far];
    for (const key of keys) await other.limit("calls", { key, count: 50 });
    const next = (was: Row, index: number) =>
      index === 1 ? null : index === 2 ? was : { ...was, used: was.used + 10 };
    const decide = async (inside: RowStatements) => {
      const states = await inside.read(keys.map(row));
      const writes = keys.map((key, index): Write => {
        const was = states.get(rowKey(row(key)))!;
        return { row: row(key), was, next: next(was, index) };
      });
      const group = { writes, decisions: [0] };
      return (await inside.write([group])).get(group);
    };
    return {
      gate,
      other,
      near,
      far,
      decide: () => access.locked!(decide, false),
      values: () =>
        Promise.all(keys.map(async (key) => (await other.getValue("calls", { key })).value)),
      async sizes() {
        const size = async (key: string) => {
          const redisKey = tags.keyOf(row(key));
          return Number(await port.send(["STRLEN", redisKey], redisKey));
        };
        return Promise.all(keys.map(size));
      },
      [Symbol.asyncDispose]: close,
    };
  }

  it.concurrent("leaves no row held after it is written", async () => {
    await using opened = await open();
    expect(await opened.decide()).toBe("written");
    await until("all are free", async () => {
      return (await opened.sizes()).every((size) => size === 24 || size === 0);
    });
    expect(await opened.sizes()).toEqual([24, 0, 24, 24]);
    expect(await opened.values()).toEqual([40, 100, 50, 40]);
  });

  it.concurrent(
    "waits for a write that is later than its hold, and so do other processes",
    async () => {
      await using opened = await open();
      const { gate, other, near, far } = opened;
      let goOn!: () => void;
      const held = new Promise<void>((resolve) => (goOn = resolve));
      gate.through = async (place, isWrite) => {
        if (place === 7 && isWrite) await held;
      };
      const decided = opened.decide();
      await until("a part is written", async () => (await opened.sizes())[1] !== 24);
      const others = [near[0]!, near[1]!, far].map((key) => other.limit("calls", { key }));
      await setTimeout(1.4 * HOLD);
      goOn();
      expect(await decided).toBe("written");
      await Promise.all(others);
      expect(await opened.values()).toEqual([39, 99, 50, 39]);
    },
  );

  it.concurrent(
    "is undone when a part is refused, whatever other processes do meanwhile",
    async () => {
      await using opened = await open();
      const { gate, other, near, far } = opened;
      let goOn!: () => void;
      const held = new Promise<void>((resolve) => (goOn = resolve));
      const writing = new Set<number>();
      gate.through = async (place, isWrite) => {
        if (isWrite) writing.add(place);
        if (place === 7 && writing.size > 0) await held;
      };
      const decided = opened.decide();
      await until("a part is under way", async () => writing.size === 2);
      const others = near.map((key) => other.limit("calls", { key }));
      // The hold on that row has lapsed, so another process can get it.
      await until("another process has the row", async () => {
        return (await other.limit("calls", { key: far })).ok;
      });
      goOn();
      expect(await decided).toBeUndefined();
      await Promise.all(others);
      expect(await opened.values()).toEqual([49, 49, 49, 49]);
    },
  );

  it.concurrent("leaves only debits when its process is killed between its writes", async () => {
    await using opened = await open();
    const { gate, other, near, far } = opened;
    const writing = new Set<number>();
    gate.through = async (place, isWrite) => {
      if (isWrite) writing.add(place);
      // The write of one tag is the last command that gets through.
      if (writing.size > 0 && !(place === 0 && isWrite)) await new Promise(() => {});
    };
    void opened.decide();
    await until("both are sent", async () => writing.size === 2);
    for (const key of [near[0]!, far]) await other.limit("calls", { key });
    expect(await opened.values()).toEqual([39, 100, 50, 49]);
  });
});
