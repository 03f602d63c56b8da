/**
 * Upstash over REST, `@upstash/redis` from 1.35. Each command is a request of its own, so WAIT has no
 * connection on which to ask about a command.
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
    // The client repeats a request that got no answer, five times by default, even with `retry: false`.
    resends: true,
    isCluster: false,
    send: node.send,
    masters: () => Promise.resolve([node]),
  };
}

/** Shortens the client's messages, which end with the whole command, including its keys. */
function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const end = error.message.indexOf(", command was: ");
  return end === -1 ? error : new Error(error.message.slice(0, end), { cause: error.name });
}
