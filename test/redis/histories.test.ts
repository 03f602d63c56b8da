/**
 * Histories of three processes: every answer must fit one serial order, while processes are killed,
 * clocks jump, slots move, and masters freeze and fail.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { HOUR } from "../../server/index.js";
import { keySlot } from "../../server/redis/key-slot.js";
import type { RedisStoreOptions } from "../../server/redis/index.js";
import { createTags } from "../../server/redis/tags.js";
import { expectLinearizable, expectSomeLinearizable } from "../histories/expect-linearizable.js";
import { startWorkers, type Workers } from "../histories/workers.js";
import { urlFor } from "./open-by-url.js";
import { newPrefix } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClient, testedClients } from "./redis-clients.js";
import { type RedisCluster, startCluster, until } from "./redis-cluster.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);
/** By night all clients. By day one client that sends commands again, and one client that does not. */
const names = isNightly
  ? testedClients.map(({ name }) => name)
  : ["ioredis 5 Cluster", "Valkey GLIDE"];
const clusterNames = names.filter((name) => testedClient(name).isCluster);
/** The number of callers of each process. One caller never shares a batch. */
const callers = [1, 3, 6];
const TAGS = 12;

describe.runIf(missing !== undefined)("redisStore", () => {
  it("has linearizable histories", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore", { timeout: 180_000 }, () => {
  let server: RedisServer;
  let cluster: RedisCluster;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  function start(
    name: string,
    options: RedisStoreOptions,
    workers: { skews?: readonly number[]; timeout?: number } = {},
  ): Promise<Workers> {
    const ports = testedClient(name).isCluster ? cluster.ports : [server.port];
    const url = urlFor(name, ports, { prefix: newPrefix(), ...options });
    return startWorkers({ kind: "redis client", url, callers, ...workers });
  }

  it.each(names)("has a linearizable history through %s", async (name) => {
    await using workers = await start(name, {});
    await workers.answered(300);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  });

  it.each(names)("has one through %s while processes are killed", async (name) => {
    await expectSomeLinearizable(async () => {
      // One tag only: a killed process may leave a decision on rows of several tags half done.
      await using workers = await start(name, { tags: 1 });
      for (const victim of [1, 2]) {
        await workers.answered(60);
        await workers.replace(victim);
      }
      await workers.answered(60);
      await workers.stop();
      return workers.history;
    });
  });

  it.each(names)("has one through %s while clocks jump by an hour", async (name) => {
    await using workers = await start(name, {}, { skews: [HOUR, 0, -HOUR] });
    await workers.answered(150);
    await workers.stop();
    expect(workers.history.every(({ answer }) => answer !== undefined)).toBe(true);
    expectLinearizable(workers.history);
  });

  it.each(clusterNames)("has one through %s while slots move", async (name) => {
    await expectSomeLinearizable(async () => {
      const prefix = newPrefix();
      const tags = createTags(prefix, TAGS);
      await using workers = await start(name, { prefix, tags: TAGS }, { timeout: 5000 });
      await workers.answered(50);
      const places = new Set(["a", "b", "c", "d"].map((key) => tags.placeOf({ name, key })));
      for (const place of places) {
        const slot = keySlot(tags.ownKey(place, ""));
        const from = cluster.nodes.indexOf(await cluster.masterOf(slot));
        await cluster.moveSlot(slot, cluster.nodes[(from + 1) % 3]!, () => setTimeout(50));
        await workers.answered(20);
      }
      await workers.stop();
      return workers.history;
    });
  });

  it.each(names)("has one through %s while its server is frozen for a moment", async (name) => {
    await expectSomeLinearizable(async () => {
      const prefix = newPrefix();
      await using workers = await start(name, { prefix, tags: 1 }, { timeout: 1000 });
      await workers.answered(60);
      const slot = keySlot(createTags(prefix, 1).ownKey(0, ""));
      const node = testedClient(name).isCluster ? await cluster.masterOf(slot) : server;
      node.freeze();
      // Too short for the cluster to choose another master.
      await setTimeout(600);
      node.thaw();
      await workers.answered(60);
      await workers.stop();
      return workers.history;
    });
  });

  it.each(clusterNames)("has one through %s, which waits, while its master fails", async (name) => {
    await expectSomeLinearizable(async () => {
      const prefix = newPrefix();
      const wait = { replicas: 1, timeout: 500 };
      await using workers = await start(name, { prefix, tags: 1, wait }, { timeout: 1000 });
      await workers.answered(60);
      const slot = keySlot(createTags(prefix, 1).ownKey(0, ""));
      const master = await cluster.masterOf(slot);
      const other = cluster.nodes.find((node) => node !== master)!;
      await master.kill();
      await until("another master is there", async () => {
        return (await cluster.masterOf(slot, other)) !== master;
      });
      await master.start();
      await cluster.isHealthy();
      await workers.answered(60);
      await workers.stop();
      return workers.history;
    });
  });
});
