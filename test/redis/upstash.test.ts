/** `redisStore` on Upstash's client over REST, against a local imitation of its API. */
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRateLimiter, HOUR, type RateLimitStore } from "../../server/index.js";
import { redisPort } from "../../server/redis/clients/recognize-client.js";
import type { UpstashLike } from "../../server/redis/clients/upstash.js";
import { redisStore } from "../../server/redis/index.js";
import { describeStore } from "../server/store/contract.js";
import { newPrefix, withoutTransactions } from "./open-redis-store.js";
import { hasRedisClients, NO_REDIS_CLIENTS } from "./redis-clients.js";
import { missingForRedis, type RedisServer, startRedis } from "./redis-server.js";
import { startUpstash, type UpstashServer } from "./upstash-server.js";

const missing = missingForRedis() ?? (hasRedisClients ? undefined : NO_REDIS_CLIENTS);

describe.runIf(missing !== undefined)("redisStore on Upstash", () => {
  it("passes the contract", ({ skip }) => skip(missing));
});

describe.skipIf(missing !== undefined)("redisStore on Upstash", () => {
  let server: RedisServer;
  let upstash: UpstashServer;
  beforeAll(async () => {
    server = await startRedis();
    upstash = await startUpstash(server.port);
  });
  afterAll(async () => {
    await upstash.close();
    await server.stop();
  });

  function connect(options = {}): UpstashLike {
    const require = createRequire(new URL("package.json", import.meta.url));
    const { Redis } = require("@upstash/redis") as { Redis: new (options: object) => UpstashLike };
    return new Redis({ url: upstash.url, token: upstash.token, ...options });
  }

  for (const [title, options] of [
    ["with its defaults", {}],
    ["without automatic pipelines", { enableAutoPipelining: false }],
    ["with replies as they are", { responseEncoding: false, automaticDeserialization: false }],
  ] as const) {
    describeStore(`redisStore on Upstash ${title}`, async () => {
      const prefix = newPrefix();
      const open = () =>
        withoutTransactions(redisStore(connect(options), { prefix }) as RateLimitStore);
      return { store: open(), peer: open(), close: () => Promise.resolve() };
    });
  }

  it("rejects with the code of the server's error first, and without the command", async () => {
    const port = redisPort(connect());
    await expect(port.send(["EVALSHA", "0".repeat(40), "1", "secret key"], "")).rejects.toThrow(
      /^NOSCRIPT No matching script. Please use EVAL.$/,
    );
  });

  it("takes tokens once, although the client repeats requests without an answer", async () => {
    const store = redisStore(connect({ retry: { retries: 3, backoff: () => 0 } }), {
      prefix: newPrefix(),
    });
    const limits = { few: { kind: "fixed window", rate: 10, period: HOUR } } as const;
    const limiter = createRateLimiter({ store, limits });
    await limiter.limit("few");
    for (let calls = 1; calls <= 4; calls++) {
      upstash.loseAnswers(1);
      expect((await limiter.limit("few")).value).toBe(9 - calls);
    }
  });

  it("refuses to wait for replicas, because a request has no connection of its own", () => {
    expect(() => redisStore(connect(), { wait: { replicas: 1, timeout: 100 } })).toThrow(/wait/);
  });
});
