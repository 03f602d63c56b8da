/** Whether calls of a page get to the server. */
import type { Network } from "./record-calls.js";

export class Switch implements Network {
  #isOffline = false;
  readonly #stops = new Set<() => void>();

  isOffline(): boolean {
    return this.#isOffline;
  }

  onLost(stop: () => void): () => void {
    this.#stops.add(stop);
    return () => this.#stops.delete(stop);
  }

  set(isOffline: boolean): void {
    this.#isOffline = isOffline;
    if (!isOffline) return;
    // A call that is stopped leaves the set. A new call that follows from the stop fails by itself.
    for (const stop of this.#stops) stop();
  }
}
