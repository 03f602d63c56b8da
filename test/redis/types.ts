/** Compiled by `clients.test.ts`, with the types of the clients. */
import { Redis as Upstash } from "@upstash/redis";
import { GlideClient, GlideClusterClient } from "@valkey/valkey-glide";
import { Cluster, Redis } from "ioredis";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis-6";
import { Cluster as Valkey4Cluster, Redis as Valkey4 } from "iovalkey";
import { Cluster as Valkey3Cluster, Redis as Valkey3 } from "iovalkey-0.3";
import { createClient, createClientPool, createCluster } from "redis";
import * as redis5 from "redis-5";
import { createRateLimiter, MINUTE } from "../../server/index.js";
import { redisStore } from "../../server/redis/index.js";

const rootNodes = [{ url: "redis://127.0.0.1:7000" }];

export async function onEveryClient() {
  const stores = [
    redisStore(new Redis()),
    redisStore(new Cluster([])),
    redisStore(new Redis6()),
    redisStore(new Redis6({ stringNumbers: true, protocol: 2 })),
    redisStore(new Cluster6([])),
    redisStore(new Valkey3()),
    redisStore(new Valkey3Cluster([])),
    redisStore(new Valkey4()),
    redisStore(new Valkey4Cluster([])),
    redisStore(createClient()),
    redisStore(await createClient({ RESP: 2 }).connect()),
    redisStore(createClientPool()),
    redisStore(createCluster({ rootNodes })),
    redisStore(redis5.createClient()),
    redisStore(redis5.createClientPool()),
    redisStore(redis5.createCluster({ rootNodes })),
    redisStore(await GlideClient.createClient({ addresses: [] })),
    redisStore(await GlideClusterClient.createClient({ addresses: [] })),
    redisStore(new Upstash({ url: "", token: "" })),
  ];
  const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
  const limiter = createRateLimiter({ store: stores[0]!, limits });
  await limiter.limit("few");
  // @ts-expect-error no client
  redisStore({});
  // @ts-expect-error the address of a server
  redisStore("redis://127.0.0.1:6379");
}
