/**
 * Contenders on Redis, single and in a cluster. All contenders use `ioredis`. No limited key expires
 * during a run.
 */
import { createHash } from "node:crypto";
import { Ratelimit } from "@upstash/ratelimit";
import { Cluster, Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import { redisStore } from "trpc-rate-limit/redis";
import { createRateLimiter, DAY } from "trpc-rate-limit/server";
import { denied, type Kind } from "./contenders.js";

const PERIOD = 365 * DAY;

function connect(url: string): Redis | Cluster {
  const { protocol, hostname, port } = new URL(url);
  if (protocol === "redis:") return new Redis(url);
  return new Cluster([{ host: hostname, port: Number(port) }]);
}

function ours(url: string, tokens: number) {
  const client = connect(url);
  const limiter = createRateLimiter({
    store: redisStore(client, { prefix: "ours:" }),
    limits: { ours: { kind: "fixed window", rate: tokens, period: PERIOD, start: 0 } },
  });
  return { client, limiter };
}

const close = (client: Redis | Cluster) => async () => void (await client.quit());

const sha1 = (script: string) => createHash("sha1").update(script).digest("hex");

/**
 * The part of a client that @upstash/ratelimit needs. The scripts of @upstash/ratelimit begin with a line
 * of flags, which servers of Upstash know and other servers refuse. This line is left out.
 */
function withoutFlags(client: Redis | Cluster) {
  const hashes = new Map<string, string>();
  return {
    evalsha: (hash: string, keys: string[], args: string[]) =>
      client.evalsha(hashes.get(hash) ?? hash, keys.length, ...keys, ...args),
    eval(script: string, keys: string[], args: string[]) {
      const plain = script.replace(/^#!.*\n/, "");
      hashes.set(sha1(script), sha1(plain));
      return client.eval(plain, keys.length, ...keys, ...args);
    },
  };
}

export const redis: Record<string, Kind> = {
  "ours, ioredis": {
    async open(tokens, url) {
      const { client, limiter } = ours(url, tokens);
      return {
        take: (key) => limiter.limit("ours", { key }).then(({ ok }) => ok),
        close: close(client),
      };
    },
    async count(tokens, url, keys) {
      const { client, limiter } = ours(url, tokens);
      const values = await Promise.all(
        keys.map((key) => limiter.getValue("ours", { key }).then(({ value }) => value)),
      );
      await client.quit();
      return values.reduce((taken, value) => taken + tokens - value, 0);
    },
  },

  "rate-limiter-flexible, ioredis": {
    async open(tokens, url) {
      const client = connect(url);
      const limiter = new RateLimiterRedis({
        storeClient: client,
        points: tokens,
        duration: PERIOD / 1000,
      });
      return {
        take: (key) => limiter.consume(key).then(() => true, denied),
        close: close(client),
      };
    },
  },

  /** The fixed window of @upstash/ratelimit, on the same connection as the other contenders. */
  "@upstash/ratelimit, ioredis": {
    async open(tokens, url) {
      const client = connect(url);
      const limiter = new Ratelimit({
        redis: withoutFlags(client) as never,
        limiter: Ratelimit.fixedWindow(tokens, "365 d"),
        // 0 turns the timeout off: by default, a call that takes longer than 5 s is let through.
        timeout: 0,
        ephemeralCache: false,
        analytics: false,
      });
      return {
        take: (key) => limiter.limit(key).then(({ success }) => success),
        close: close(client),
      };
    },
  },
};
