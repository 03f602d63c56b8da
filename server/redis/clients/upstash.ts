/**
 * Upstash over REST, `@upstash/redis` from 1.35. Each command is a request of its own, so
 * there is no connection on which WAIT could ask about it.
 */
import type { RedisNode, RedisPort } from "../redis-port.js";
import { hasMethods } from "./shape.js";

/** A `Redis` of `@upstash/redis`. */
export interface UpstashLike {
  exec(args: never): unknown;
  evalsha(sha: never, keys: never, args: never): unknown;
  pipeline(): unknown;
}

interface Client {
  exec(args: readonly string[]): Promise<unknown>;
}

export function isUpstash(client: object): client is UpstashLike {
  return hasMethods(client, "exec", "evalsha", "pipeline");
}

export function upstashPort(like: UpstashLike): RedisPort {
  const client = like as unknown as Client;
  const node: RedisNode = {
    async send(args) {
      try {
        return await client.exec(args);
      } catch (error) {
        throw withoutCommand(error);
      }
    },
  };
  return {
    keyPrefix: "",
    // It repeats a request that got no answer, five times by default, even with `retry: false`.
    resends: true,
    isCluster: false,
    send: node.send,
    masters: () => Promise.resolve([node]),
  };
}

/** The client's messages end with the whole command, keys included. */
function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const end = error.message.indexOf(", command was: ");
  return end === -1 ? error : new Error(error.message.slice(0, end), { cause: error.name });
}
