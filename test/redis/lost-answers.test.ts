/**
 * Connections that are lost after the server has carried out a command. Some clients send the command
 * again. Such a command must not take its tokens twice.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, DAY } from "../../server/index.js";
import { redisPort } from "../../server/redis/clients/recognize-client.js";
import { keySlot } from "../../server/redis/key-slot.js";
import { redisStore } from "../../server/redis/index.js";
import { createTags } from "../../server/redis/tags.js";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.js";
import { newPrefix } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClients } from "./redis-clients.js";
import { type RedisCluster, startCluster } from "./redis-cluster.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);
const LOST = 5;
const TAGS = 12;

describe.runIf(missing !== undefined)("a lost answer of Redis", () => {
  it("takes its tokens once", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("a call whose answer is lost", () => {
  let server: RedisServer;
  let proxy: FaultProxy;
  let cluster: RedisCluster;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startCluster({ canBeCut: true })]);
    proxy = await startFaultProxy(() => server.port);
  });
  afterAll(() => Promise.all([server.stop(), proxy.close(), cluster.stop()]));

  it.each(testedClients)("takes its tokens once through $name", async (tested) => {
    const prefix = newPrefix();
    const ports = tested.isCluster ? cluster.ports : [proxy.port];
    const { client, close } = await tested.open(ports);
    const store = redisStore(client, { prefix, tags: TAGS });
    const frozen = Date.UTC(2030, 0, 1);
    const limiter = createRateLimiter({
      store,
      timeout: 10_000,
      limits: { calls: { kind: "token bucket", rate: 100, period: DAY } },
      clock: () => frozen,
      logger: false,
    });
    const row = { name: "calls", key: "a", shard: 0 };
    const redisKey = createTags(prefix, TAGS).keyOf(row);
    const node = tested.isCluster ? await cluster.masterOf(keySlot(redisKey)) : server;
    const faults = tested.isCluster ? cluster.proxyOf(node) : proxy;
    const rowNow = () => node.run("GET", redisKey);
    try {
      let [granted, failed] = [0, 0];
      const call = () =>
        limiter.limit("calls", { key: "a" }).then(
          () => granted++,
          () => failed++,
        );
      await call();
      for (let lost = 0; lost < LOST;) {
        const before = await rowNow();
        faults.loseAnswers();
        let isOver = false;
        const sent = call().finally(() => (isOver = true));
        // In these cases, no answer to the call is lost. A call that finds no connection fails before it
        // is sent. A call that finds a new connection gets its answer. A client may also wait for the
        // lost answer to a question of its own.
        const until = performance.now() + 1000;
        let isCharged = false;
        while (!isCharged && !isOver && performance.now() < until) {
          isCharged = (await rowNow()) !== before;
        }
        if (isCharged && !isOver) lost++;
        faults.disconnect();
        await sent;
        // A client that does not send again reports the failure, and connects before the next call.
        await call();
      }
      const gone = 100 - (await limiter.getValue("calls", { key: "a" })).value;
      expect(gone).toBeGreaterThanOrEqual(granted);
      expect(gone).toBeLessThanOrEqual(granted + failed);
      if (redisPort(client).resends) expect({ gone, failed }).toEqual({ gone: granted, failed: 0 });
      else expect(failed).toBeGreaterThanOrEqual(LOST);
    } finally {
      await close();
    }
  });
});
