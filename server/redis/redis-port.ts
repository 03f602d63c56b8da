/**
 * What the store needs from a client of Redis or Valkey. Each client has an implementation in
 * `clients`. The store sends whole commands by it, and knows no client.
 */

/** One server of several, or the only one. */
export interface RedisNode {
  /**
   * Sends one command, with its name first. Resolves with text, numbers, `null`, and arrays of these.
   * Some clients turn integers into text, and others text that reads as a number into a number.
   * Rejects with an error whose message begins with the server's code, such as `NOSCRIPT`, and
   * otherwise with the client's own error.
   *
   * @param routingKey in a cluster, the command goes to the master of this key's slot. A command that
   * has keys has them in this slot. `undefined`: any master. A single server ignores it.
   */
  send(args: readonly string[], routingKey: string | undefined): Promise<unknown>;
}

/** A client of Redis or Valkey, as the store sees it. */
export interface RedisPort extends RedisNode {
  /**
   * What the client puts before keys in its other commands; `""` for most. `send` does not do that,
   * because some clients leave it out for patterns and scripts. So the store puts it before its keys.
   */
  readonly keyPrefix: string;
  /**
   * Whether the client may send a command again after its connection was lost, although the server
   * may have carried it out.
   */
  readonly resends: boolean;
  /** Whether the slots are spread over several masters. */
  readonly isCluster: boolean;
  /** The masters of now. One for a single server. */
  masters(): Promise<readonly RedisNode[]>;
  /**
   * Sends a command, and on the same connection the question how many replicas have it. Absent where
   * commands have no connection of their own.
   */
  readonly sendAndWait?: SendAndWait | undefined;
}

/**
 * As `send`, and then waits until `wait.replicas` have acknowledged the command, at most
 * `wait.timeout` ms. Rejects if the command failed. The answer never is about another connection,
 * because that one would know nothing of this command; it is 0 if the connection was lost behind it.
 */
export type SendAndWait = (
  args: readonly string[],
  routingKey: string,
  wait: { replicas: number; timeout: number },
) => Promise<{ reply: unknown; acknowledged: number }>;
