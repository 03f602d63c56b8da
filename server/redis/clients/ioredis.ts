/** A client of ioredis, for one server. */
import type { RedisPort } from "../redis-port.js";

/** The parts of a client of ioredis that the store uses. */
export interface IoredisLike {
  /** Sends a command. */
  call(command: string, ...args: string[]): Promise<unknown>;
  /** The options that the client was made with. */
  readonly options: { readonly autoResendUnfulfilledCommands?: boolean | undefined };
}

export function isIoredis(client: unknown): client is IoredisLike {
  const { call, options } = Object(client) as Record<string, unknown>;
  return typeof call === "function" && typeof options === "object" && options !== null;
}

export function ioredisPort(client: IoredisLike): RedisPort {
  const port: RedisPort = {
    send: ([command, ...args]) => client.call(command!, ...args),
    resends: client.options.autoResendUnfulfilledCommands !== false,
    isCluster: false,
    masters: async () => [port],
  };
  return port;
}
