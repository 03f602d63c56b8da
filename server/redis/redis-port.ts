/**
 * What the store needs from a Redis client: one function that sends a command. The clients of npm
 * differ in how they do that, so each has a short adapter, and is recognised by its shape.
 */
export interface RedisPort {
  /**
   * Sends one command. Integers come as numbers, bulk replies as strings, and nil as `null`. In a
   * cluster, the command goes to the master of the slot of `routingKey`; with `undefined`, to any
   * master. Commands with one routing key that are sent one after the other, without waiting, go out
   * in that order, on one connection. Rejects with the client's error.
   */
  send(args: readonly string[], routingKey: string | undefined): Promise<unknown>;
  /**
   * Whether the client may send a command again after its connection was lost, although the first
   * one may have been carried out.
   */
  readonly resends: boolean;
  /** Whether the slots are spread over several masters. */
  readonly isCluster: boolean;
  /** The masters of now, for SCAN and INFO, each with its own `send`. One for a single server. */
  masters(): Promise<readonly Pick<RedisPort, "send">[]>;
}
