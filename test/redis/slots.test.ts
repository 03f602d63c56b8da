/** Slots that move from master to master while calls are under way: no token is granted twice. */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { keySlot } from "../../server/redis/key-slot.js";
import { createTags } from "../../server/redis/tags.js";
import { startGrants } from "./grants.js";
import { newPrefix, openRedisStore } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClient, testedClients } from "./redis-clients.js";
import { type RedisCluster, startCluster } from "./redis-cluster.js";
import { missingForRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);
const TAGS = 12;
const WAIT = { replicas: 1, timeout: 1000 };

const clusterClients = testedClients.filter(({ isCluster }) => isCluster);
/** By night each version, and by day one version of each client. */
const chosen = isNightly
  ? clusterClients
  : clusterClients.filter(({ name }) => /^(ioredis 5|node-redis 6|Valkey)/.test(name));
const cases = chosen.flatMap((tested) =>
  [undefined, WAIT].map((wait) => ({ tested, name: tested.name, wait })),
);

describe.runIf(missing !== undefined)("redisStore while slots move", () => {
  it("grants nothing twice", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore while slots move", () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.stop());

  it.each(cases)("grants nothing twice through $name, wait $wait", async ({ tested, wait }) => {
    const prefix = newPrefix();
    const { ports } = cluster;
    const options = { prefix, tags: TAGS };
    const { store, close } = await openRedisStore(tested, ports, { ...options, wait });
    const reader = await openRedisStore(testedClient("ioredis 5 Cluster"), ports, options);
    const tags = createTags(prefix, TAGS);
    try {
      const grants = startGrants(store, 30, 10_000);
      await grants.grantedForAll(1);
      for (let place = 0; place < TAGS; place++) {
        const slot = keySlot(tags.ownKey(place, ""));
        const from = cluster.nodes.indexOf(await cluster.masterOf(slot));
        await cluster.moveSlot(slot, cluster.nodes[(from + 1) % 3]!, () => setTimeout(50));
      }
      await grants.grantedForAll(1);
      const tally = await grants.tally(reader.store);
      const waits = wait === undefined ? "without wait" : "with wait";
      console.info(`slots moved, ${tested.name}, ${waits}: ${JSON.stringify(tally)}`);
      expect(tally.over).toBe(0);
      // GLIDE gives up after a quarter of a second. ioredis tries random masters for a moving slot, and
      // gives up after sixteen of them.
      const isPatient = tested.name.startsWith("node-redis") || wait !== undefined;
      if (isPatient && !tested.name.startsWith("Valkey GLIDE")) expect(tally.failed).toBe(0);
      // A failed call may have taken its tokens. No other call takes tokens without an answer.
      expect(tally.under).toBeLessThanOrEqual(tally.failed);
    } finally {
      await Promise.all([close(), reader.close()]);
    }
  });
});
