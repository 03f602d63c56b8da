/** The contract of stores, through the clients, on a single server and on a cluster. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { isNightly } from "../support/nightly.js";
import { describeStore } from "../server/store/contract.js";
import { newPrefix, openRedisStore, withoutTransactions } from "./open-redis-store.js";
import {
  type ClientOptions,
  hasRedisClients,
  NO_REDIS_CLIENTS,
  testedClient,
  testedClients,
} from "./redis-clients.js";
import { type RedisCluster, startCluster } from "./redis-cluster.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);

describe.runIf(missing !== undefined)("redisStore", () => {
  it("passes the contract on every client", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore", () => {
  let server: RedisServer;
  let cluster: RedisCluster;
  beforeAll(async () => {
    [server, cluster] = await Promise.all([startRedis(), startCluster()]);
  });
  afterAll(() => Promise.all([server.stop(), cluster.stop()]));

  /** Options that change what a client sends, or how it answers. */
  const unusual: [client: string, title: string, options: ClientOptions][] = [
    ["ioredis 5", "with numbers as strings", { stringNumbers: true }],
    ["ioredis 5", "with a prefix of its own", { keyPrefix: "app:" }],
    [
      "ioredis 6 Cluster",
      "with automatic pipelines, reading from replicas",
      { enableAutoPipelining: true, scaleReads: "slave" },
    ],
    ["node-redis 5 cluster", "reading from replicas", { useReplicas: true }],
    ["node-redis 6", "with RESP2", { RESP: 2 }],
  ];
  /**
   * By night each version, and by day one version of each client. `redis-port.test.ts` always tests all
   * versions.
   */
  const chosen = isNightly
    ? testedClients
    : testedClients.filter(({ name }) => !/^(ioredis 6|iovalkey 0.3|node-redis 5)/.test(name));
  const all = [
    ...chosen.map((tested) => ({ tested, title: tested.name, options: {} })),
    ...unusual.map(([name, title, options]) => {
      return { tested: testedClient(name), title: `${name} ${title}`, options };
    }),
  ];

  for (const { tested, title, options } of all) {
    describeStore(`redisStore on ${title}`, async () => {
      const { isCluster } = tested;
      const ports = isCluster ? cluster.ports : [server.port];
      const prefix = newPrefix();
      const opened = await Promise.all(
        [0, 1].map(() => openRedisStore(tested, ports, { prefix }, options)),
      );
      const [store, peer] = opened.map((each) => withoutTransactions(each.store));
      return {
        store: store!,
        peer,
        close: () => Promise.all(opened.map(({ close }) => close())).then(() => {}),
      };
    });
  }
});
