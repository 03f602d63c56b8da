/**
 * Overrides in Redis: one hash in the slot of the first tag. Each field is a limit and a key, so a write
 * of one field replaces an override in one step.
 */
import { bucketId } from "../../core/bucket-id.js";
import type { OverrideRow, OverrideTable } from "../store/override-table.js";
import { redisError, RedisStoreError } from "./redis-errors.js";
import type { RedisPort } from "./redis-port.js";
import type { WaitOptions } from "./run-script.js";
import type { Tags } from "./tags.js";

/**
 * Deletes the fields of overrides that have ended. The deletion is one command, or an override that was
 * just replaced might be deleted.
 */
const REMOVE_ENDED = `local removed = 0
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local ends = tonumber(string.match(all[i + 1], '^o(%d+) '))
  if ends and ends <= tonumber(ARGV[1]) then
    removed = removed + redis.call('HDEL', KEYS[1], all[i])
  end
end
return tostring(removed)`;

export function redisOverrides(
  port: RedisPort,
  tags: Tags,
  wait: WaitOptions | undefined,
): OverrideTable {
  const hash = tags.ownKey(0, "overrides");

  async function send(args: readonly string[], isWrite = true): Promise<unknown> {
    try {
      if (!isWrite || wait === undefined) return await port.send(args, hash);
      const { reply, acknowledged } = await port.sendAndWait!(args, hash, wait);
      if (acknowledged >= wait.replicas) return reply;
      throw new RedisStoreError(
        `only ${acknowledged} of ${wait.replicas} replicas have acknowledged an override; it is ` +
          "unknown whether it will be lost",
      );
    } catch (error) {
      throw redisError(error);
    }
  }

  return {
    async read() {
      const values = (await send(["HVALS", hash], false)) as unknown[];
      return values.flatMap((value) => rowOf(String(value)) ?? []);
    },
    async readOf(names, key) {
      const fields = names.map((name) => bucketId(name, key));
      const values = (await send(["HMGET", hash, ...fields], false)) as (string | null)[];
      return values.flatMap((value) => (value === null ? [] : (rowOf(value) ?? [])));
    },
    async write(row) {
      await send(["HSET", hash, bucketId(row.name, row.key), textOf(row)]);
    },
    async remove(name, key) {
      return Number(await send(["HDEL", hash, bucketId(name, key)])) > 0;
    },
    async removeEnded(before) {
      return Number(await send(["EVAL", REMOVE_ENDED, "1", hash, String(Math.floor(before))]));
    },
  };
}

/** The text begins with a letter, because some clients parse a text that looks like JSON or a number. */
function textOf({ name, key, rule, until, setAt }: OverrideRow): string {
  return `o${Math.ceil(until)} ${JSON.stringify([name, key, rule, until, setAt])}`;
}

function rowOf(text: string): OverrideRow | undefined {
  if (!/^o\d+ \[/.test(text)) return undefined;
  const [name, key, rule, until, setAt] = JSON.parse(text.slice(text.indexOf(" ") + 1)) as [
    string,
    string,
    string,
    number,
    number,
  ];
  return { name, key, rule, until, setAt };
}
