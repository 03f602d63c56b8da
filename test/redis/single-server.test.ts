/** A single server that forgets its scripts, stands still, or is killed: no token is granted twice. */
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { startGrants } from "./grants.js";
import { newPrefix, openRedisStore } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS, testedClient, testedClients } from "./redis-clients.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);
const WAIT = { replicas: 1, timeout: 300 };

/** By night each version, and by day one version of each client. */
const singles = testedClients.filter(({ isCluster }) => !isCluster);
const chosen = isNightly
  ? singles
  : singles.filter(({ name }) => /^(ioredis 5|node-redis 6|Valkey)/.test(name));

describe.runIf(missing !== undefined)("redisStore on a single server", () => {
  it("grants nothing twice", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore on a single server", () => {
  let server: RedisServer;
  let replica: RedisServer;
  beforeAll(async () => {
    // Every write that the server has answered is in its file.
    server = await startRedis({ appendonly: "yes", appendfsync: "always" });
    replica = await startRedis({ replicaof: `127.0.0.1 ${server.port}` });
  });
  afterAll(() => Promise.all([server.stop(), replica.stop()]));

  async function open(tested: (typeof chosen)[number], wait?: typeof WAIT) {
    const prefix = newPrefix();
    const { store, close } = await openRedisStore(tested, [server.port], { prefix, wait });
    const reader = await openRedisStore(testedClient("ioredis 5"), [server.port], { prefix });
    return {
      grants: startGrants(store),
      reader: reader.store,
      [Symbol.asyncDispose]: () => Promise.all([close(), reader.close()]).then(() => {}),
    };
  }

  it.each(chosen)("fails no call when it forgets its scripts ($name)", async (tested) => {
    await using opened = await open(tested);
    for (let flushes = 0; flushes < 20; flushes++) {
      await opened.grants.granted(100);
      await server.run("SCRIPT", "FLUSH");
    }
    const tally = await opened.grants.tally(opened.reader);
    expect(tally).toMatchObject({ failed: 0, over: 0, under: 0 });
  });

  it.each(chosen)("grants nothing twice when it stands still ($name)", async (tested) => {
    await using opened = await open(tested);
    for (let stops = 0; stops < 2; stops++) {
      await opened.grants.granted(100);
      server.freeze();
      await setTimeout(300);
      server.thaw();
    }
    await opened.grants.granted(100);
    const tally = await opened.grants.tally(opened.reader);
    expect(tally.over).toBe(0);
    expect(tally.under).toBeLessThanOrEqual(tally.failed);
  });

  it.each(chosen)("grants nothing twice when it is killed ($name)", async (tested) => {
    await using opened = await open(tested);
    await opened.grants.grantedForAll(5);
    await server.kill();
    await server.start();
    await opened.grants.grantedForAll(5);
    const tally = await opened.grants.tally(opened.reader);
    console.info(`single server killed, ${tested.name}: ${JSON.stringify(tally)}`);
    expect(tally.over).toBe(0);
    expect(tally.under).toBeLessThanOrEqual(tally.failed);
  });

  it.each(chosen)("fails calls that no replica has, with wait ($name)", async (tested) => {
    await using opened = await open(tested, WAIT);
    await opened.grants.grantedForAll(2);
    replica.freeze();
    await opened.grants.failed(1);
    replica.thaw();
    await opened.grants.grantedForAll(2);
    const tally = await opened.grants.tally(opened.reader);
    expect(tally.over).toBe(0);
    expect(tally.under).toBeGreaterThan(0);
    expect(tally.under).toBeLessThanOrEqual(tally.failed);
  });
});
