/** A store on Redis or Valkey: rows in keys, and scripts that read, decide and write them. */
import { RateLimitConfigError } from "../../core/errors.js";
import { DatabaseClock } from "../store/sql/table/database-clock.js";
import type { RateLimitStore } from "../store/store.js";
import { checkServer } from "./check-server.js";
import { type RedisClientLike, redisPort } from "./clients/recognize-client.js";
import { createRedisEarliest } from "./time-index.js";
import { createLane, createLanes, type Server } from "./lanes.js";
import { redisError } from "./redis-errors.js";
import { createRedisList } from "./redis-list.js";
import { redisOverrides } from "./redis-overrides.js";
import type { RedisPort } from "./redis-port.js";
import { RedisRows } from "./redis-rows.js";
import { createRedisSums } from "./redis-sums.js";
import { createScriptRunner, scriptShas, type WaitOptions } from "./run-script.js";
import type { ScriptName } from "./scripts.js";
import { createTags } from "./tags.js";

/** The options of `redisStore`. */
export interface RedisStoreOptions {
  /** The start of the keys in Redis, without braces. @default "rate-limit:" */
  prefix?: string | undefined;
  /**
   * The number of hash tags over which the rows are spread, from 1 to 256. The number must be the same in
   * all processes. After a change, the store does not find its former rows, and all limits are full.
   * @default 12
   */
  tags?: number | undefined;
  /**
   * Waits for replicas after each write, by WAIT, so that a failover loses no write that was answered. A
   * call is rejected if its write was not acknowledged. @default no replica is waited for
   */
  wait?: WaitOptions | undefined;
  /**
   * `"ignore"` also accepts a server that deletes keys when its memory is full, or that does not tell its
   * policy.
   * @default such a server is refused
   */
  eviction?: "ignore" | undefined;
}

/**
 * A store on Redis 6.2 or later, or on Valkey.
 *
 * @param client ioredis 5 or 6, iovalkey, node-redis 5 or 6, Valkey GLIDE 2 or `@upstash/redis`.
 * @throws RateLimitConfigError when the client is not known, or an option cannot work.
 *
 * @example
 * import { Redis } from "ioredis";
 * import { redisStore } from "trpc-rate-limit/redis";
 *
 * const store = redisStore(new Redis(process.env.REDIS_URL!));
 */
export function redisStore(
  client: RedisClientLike,
  options: RedisStoreOptions = {},
): RateLimitStore<never> {
  const { tags: tagCount = 12, wait, eviction } = options;
  const port = redisPort(client);
  const prefix = port.keyPrefix + (options.prefix ?? "rate-limit:");
  validate(options, prefix, port);
  const tags = createTags(prefix, tagCount);
  const shas = new Map<ScriptName, string>();
  /** The clock of the server that has answered first. The clocks of a cluster's servers differ. */
  let clock: DatabaseClock | undefined;

  function openServer(place: number): Server {
    const own = new DatabaseClock();
    const runner = createScriptRunner({ port, tags, place, clock: own, shas, wait });
    let isChecked = false;
    async function check(): Promise<void> {
      if (shas.size === 0) for (const [name, sha] of await scriptShas()) shas.set(name, sha);
      if (!isChecked) await checkServer(runner.send, eviction === "ignore");
      isChecked = true;
      await runner.readTime();
      clock ??= own;
    }
    const prepare = () => (isChecked && own.isKnown && !own.isInDoubt() ? undefined : check());
    return { rows: new RedisRows(tags, runner), prepare };
  }

  const lanes = port.isCluster ? createLanes(tags, openServer) : createLane(openServer(0));
  const { list, names, walk } = createRedisList(port, prefix, tags);
  const sums = createRedisSums(port, tags, walk);
  const earliest = createRedisEarliest(port, tags, lanes.apply, list);

  return {
    ...lanes,
    clock: () => clock?.now() ?? Date.now(),
    clockBehind: () => clock?.behind() ?? 0,
    clockAhead: () => clock?.ahead() ?? 0,
    async list(...page) {
      try {
        return await list(...page);
      } catch (error) {
        throw redisError(error);
      }
    },
    async earliest(...of) {
      try {
        return await earliest(...of);
      } catch (error) {
        throw redisError(error);
      }
    },
    async sums(...of) {
      try {
        return await sums(...of);
      } catch (error) {
        throw redisError(error);
      }
    },
    async *names() {
      try {
        yield* names();
      } catch (error) {
        throw redisError(error);
      }
    },
    overrides: redisOverrides(port, tags, wait),
    /** Rows expire by themselves when they have been full for a minute. */
    async *prune() {},
    using() {
      throw noTransactions("using");
    },
    async transaction() {
      throw noTransactions("transaction");
    },
  };
}

function noTransactions(method: "using" | "transaction"): RateLimitConfigError {
  const message =
    `redisStore has no ${method}(): Redis cannot commit tokens together with rows of your database; ` +
    "call limit() first, and give the tokens back by refund() if the transaction fails";
  return new RateLimitConfigError("store", "redisStore", { message });
}

const KNOWN = new Set(["prefix", "tags", "wait", "eviction"]);

function validate(options: RedisStoreOptions, prefix: string, port: RedisPort): void {
  const { tags = 1, wait, eviction } = options;
  const other = Object.keys(options).find((name) => !KNOWN.has(name));
  if (other !== undefined) {
    const expected = `left out: redisStore knows ${[...KNOWN].join(", ")}`;
    throw new RateLimitConfigError(other, (options as Record<string, unknown>)[other], expected);
  }
  if (/[{}\0]/.test(prefix)) {
    const expected = "a text without braces and NUL; so must the client's keyPrefix";
    throw new RateLimitConfigError("prefix", prefix, expected);
  }
  if (!Number.isInteger(tags) || tags < 1 || tags > 256) {
    throw new RateLimitConfigError("tags", tags, "a whole number from 1 to 256");
  }
  if (eviction !== undefined && eviction !== "ignore") {
    throw new RateLimitConfigError("eviction", eviction, '"ignore", or left out');
  }
  if (wait === undefined) return;
  const { replicas, timeout } = Object(wait) as Partial<WaitOptions>;
  if (!Number.isInteger(replicas) || replicas! < 1) {
    throw new RateLimitConfigError("wait.replicas", replicas, "a whole number, at least 1");
  }
  if (!Number.isInteger(timeout) || timeout! < 1) {
    throw new RateLimitConfigError("wait.timeout", timeout, "a whole number of ms, at least 1");
  }
  if (port.sendAndWait === undefined) {
    throw new RateLimitConfigError("wait", wait, "left out: this client cannot wait for replicas");
  }
}
