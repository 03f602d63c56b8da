/** How processes tell each other of changes. */

/**
 * Called with the `changeDigest` of a limit after its tokens have changed. The listener's errors and
 * rejections are ignored.
 */
export type ChangeListener = (digest: string) => void;

/**
 * Carries notifications of changes between processes; see `postgresChannel`. A channel carries digests
 * alone. A digest that is lost, repeated or made up does no harm: a limit is read later, or once more.
 */
export interface ChangeChannel {
  /** This process has changed a limit. Never throws. Delivery is not guaranteed. */
  publish(digest: string): void | Promise<void>;
  /** Calls `listener` after changes by other processes. Returns a function that ends the subscription. */
  subscribe(listener: ChangeListener): () => void;
}
