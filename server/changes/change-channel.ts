/** How processes tell each other of changes. */

/**
 * Called with the `changeDigest` of a limit after its tokens have changed. Its errors and
 * rejections are ignored.
 */
export type ChangeListener = (digest: string) => void;

/**
 * Carries notifications of changes between processes; see `postgresChannel`. It needs to carry
 * nothing but digests. A digest that is lost, repeated or made up does no harm: a limit is read
 * later, or once more.
 */
export interface ChangeChannel {
  /** This process has changed a limit. Never throws. Delivery is not guaranteed. */
  publish(digest: string): void | Promise<void>;
  /** Calls `listener` after changes by other processes. Returns a function that ends that. */
  subscribe(listener: ChangeListener): () => void;
}
