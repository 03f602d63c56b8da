/** How processes tell each other of changes. */

/**
 * Called with the `changeDigest` of a limit after its tokens have changed. The listener's errors and
 * rejections are ignored.
 */
export type ChangeListener = (digest: string) => void;

/** Called with a message of another process: JSON, which any user of the channel may have made up. */
export type MessageListener = (message: unknown) => void;

/**
 * Carries notifications of changes between processes; see `postgresChannel`. A channel carries digests of
 * changes. A digest that is lost, repeated or made up does no harm: a limit is read later, or once more.
 * Only while an operator asks for the keys with the most does a channel carry messages with keys, too.
 */
export interface ChangeChannel {
  /** This process has changed a limit. Never throws. Delivery is not guaranteed. */
  publish(digest: string): void | Promise<void>;
  /** Calls `listener` after changes by other processes. Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void;
  /**
   * Sends a message to the other processes. Never throws. Delivery is not guaranteed: a message whose JSON
   * has more than 7,800 bytes is dropped, and so are messages beyond 16 at a time. Optional, with
   * `receive`: without these two, operators see the latest decisions of one process.
   */
  send?(message: unknown): void;
  /** Calls `listener` with messages of other processes. Returns a function that ends the subscription. */
  receive?(listener: MessageListener): () => void;
}
