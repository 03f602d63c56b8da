/**
 * Masters of a cluster that are killed, frozen and cut off. After a failover, the store is exact only for
 * writes that a replica had acknowledged. The tests print how many grants were too many, and what `wait`
 * costs.
 */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import type { RedisStoreOptions } from "../../server/redis/index.js";
import { startGrants, type Tally } from "./grants.js";
import { newPrefix, openRedisStore } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClient } from "./redis-clients.js";
import { type RedisCluster, startCluster, until } from "./redis-cluster.js";
import { missingForRedis, type RedisServer } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);

/** By night all clients, and by day the client that most applications use. */
const clients = isNightly
  ? ["ioredis 5", "ioredis 6", "iovalkey 0.4", "node-redis 5", "node-redis 6", "Valkey GLIDE"]
  : ["ioredis 5"];

const waits: readonly RedisStoreOptions["wait"][] = [undefined, { replicas: 1, timeout: 500 }];
const cases = clients.flatMap((client) => waits.map((wait) => ({ client, wait })));

describe.runIf(missing !== undefined)("redisStore in a failover", () => {
  it("grants nothing twice that a replica has acknowledged", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore in a failover", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster({ canBeCut: true });
  });
  afterAll(() => cluster.stop());

  /** The tally of calls before, during and after a fault that makes another server the master. */
  async function failOver(
    { client, wait }: (typeof cases)[number],
    fail: (master: RedisServer) => Promise<void>,
    mend: (master: RedisServer) => Promise<void>,
  ): Promise<Tally> {
    const prefix = newPrefix();
    const tested = testedClient(
      { "node-redis 5": "node-redis 5 cluster", "node-redis 6": "node-redis 6 cluster" }[client] ??
        (client === "Valkey GLIDE" ? "Valkey GLIDE cluster" : `${client} Cluster`),
    );
    const { store, close } = await openRedisStore(tested, cluster.ports, { prefix, wait });
    const reader = await openRedisStore(testedClient("ioredis 5 Cluster"), cluster.ports, {
      prefix,
    });
    try {
      const grants = startGrants(store);
      await grants.grantedForAll(10);
      const master = await cluster.masterOf(0);
      const other = cluster.nodes.find((node) => node !== master)!;
      await fail(master);
      await until("another master is there", async () => {
        return (await cluster.masterOf(0, other)) !== master;
      });
      await setTimeout(300);
      await mend(master);
      await cluster.isHealthy();
      await grants.grantedForAll(10);
      return await grants.tally(reader.store);
    } finally {
      await Promise.all([close(), reader.close()]);
    }
  }

  function report(title: string, { client, wait }: (typeof cases)[number], tally: Tally): void {
    const kind = wait === undefined ? "without wait" : "with wait";
    console.info(`${title}, ${client}, ${kind}: ${JSON.stringify(tally)}`);
  }

  it.each(cases)("whose master is killed ($client, wait $wait)", async (each) => {
    const tally = await failOver(
      each,
      (master) => master.kill(),
      (master) => master.start(),
    );
    report("killed", each, tally);
    if (each.wait !== undefined) expect(tally.over).toBe(0);
  });

  it.each(cases)("whose master is frozen ($client, wait $wait)", async (each) => {
    const tally = await failOver(
      each,
      async (master) => master.freeze(),
      async (master) => master.thaw(),
    );
    report("frozen", each, tally);
    if (each.wait !== undefined) expect(tally.over).toBe(0);
  });

  it.each(cases)("whose master is cut off ($client, wait $wait)", async (each) => {
    const tally = await failOver(
      each,
      async (master) => cluster.cutOff(master),
      async () => cluster.heal(),
    );
    report("cut off", each, tally);
    if (each.wait !== undefined) expect(tally.over).toBe(0);
  });
});
