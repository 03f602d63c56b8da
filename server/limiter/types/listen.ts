/** Listeners of changes and of decisions. */
import type { ChangeListener } from "../../changes/change-channel.js";
import type { DecisionListener } from "./limiter-options.js";

/** `onChange` and `onDecision`. */
export interface ListenMethods {
  /**
   * Calls `listener` with a digest after each change by this process, and after each change by another
   * process that the `channel` delivers. Compare the digest with `changeDigest(name, key)`. Returns a
   * function that ends the calls.
   *
   * @example
   * const stop = limiter.onChange((digest) => console.log("changed", digest));
   */
  onChange(listener: ChangeListener): () => void;

  /**
   * Calls `listener` after each decision of this process, as the option `onDecision` is called. Returns a
   * function that ends the calls. The listener's errors and rejections are ignored.
   *
   * @example
   * const stop = limiter.onDecision(({ name, result }) => {
   *   if (!result.ok) console.log(`denied by ${name}`);
   * });
   */
  onDecision(listener: DecisionListener): () => void;
}
