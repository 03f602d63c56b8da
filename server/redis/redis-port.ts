/**
 * The interface that the store needs from a client of Redis or Valkey. Each client has an implementation
 * in `clients`. The store sends whole commands through a port, and knows no client.
 */

/** One server of several, or the only server. */
export interface RedisNode {
  /**
   * Sends one command, with its name first. Resolves with text, numbers, `null`, and arrays of these.
   * Some clients turn integers into text. Others turn a text that reads as a number into a number.
   * Rejects with the client's own error. For an error of the server, the message begins with the server's
   * code, such as `NOSCRIPT`.
   *
   * @param routingKey in a cluster, the command goes to the master of this key's slot. All keys of the
   * command must be in this slot. `undefined`: any master. A single server ignores the key.
   */
  send(args: readonly string[], routingKey: string | undefined): Promise<unknown>;
}

/** A client of Redis or Valkey, as the store sees it. */
export interface RedisPort extends RedisNode {
  /**
   * The prefix that the client puts before keys in its other commands; `""` for most clients. `send` adds
   * no prefix, because some clients add none to patterns and scripts. The store puts the prefix before
   * its keys itself.
   */
  readonly keyPrefix: string;
  /**
   * Whether the client may send a command again after its connection was lost, although the server
   * may have carried it out.
   */
  readonly resends: boolean;
  /** Whether the slots are spread over several masters. */
  readonly isCluster: boolean;
  /** The present masters. One master for a single server. */
  masters(): Promise<readonly RedisNode[]>;
  /**
   * Sends a command, and then, on the same connection, asks how many replicas have the command. Absent
   * where commands have no connection of their own.
   */
  readonly sendAndWait?: SendAndWait | undefined;
}

/**
 * As `send`, and then waits until `wait.replicas` have acknowledged the command, at most `wait.timeout`
 * ms. Rejects if the command failed. `acknowledged` is asked on the connection of the command, because
 * WAIT on another connection knows nothing of the command. `acknowledged` is 0 if the connection was lost
 * after the command.
 */
export type SendAndWait = (
  args: readonly string[],
  routingKey: string,
  wait: { replicas: number; timeout: number },
) => Promise<{ reply: unknown; acknowledged: number }>;
