/** The scripts without a store, for tests of each script. */
import { redisPort } from "../../../server/redis/clients/recognize-client.js";
import type { RedisPort } from "../../../server/redis/redis-port.js";
import { RedisRows } from "../../../server/redis/redis-rows.js";
import { createScriptRunner, scriptShas } from "../../../server/redis/run-script.js";
import { createTags } from "../../../server/redis/tags.js";
import { DatabaseClock } from "../../../server/store/sql/table/database-clock.js";
import { createRedisRows } from "../../support/redis-rows.js";

/** @param change what the scripts are sent through. */
export async function openRows(change: (port: RedisPort) => RedisPort = (port) => port) {
  const redis = createRedisRows();
  const port = change(redisPort(redis.client));
  const tags = createTags(redis.prefix, 12);
  const clock = new DatabaseClock();
  const shas = await scriptShas();
  const runner = createScriptRunner({ port, tags, place: 0, clock, shas, wait: undefined });
  await runner.readTime();
  return {
    ...redis,
    tags,
    rows: new RedisRows(tags, runner),
    runner,
    [Symbol.asyncDispose]: () => redis[Symbol.asyncDispose](),
  };
}
