/**
 * Keeps calls back while the limit changes, so that no call that was meant for the old limit takes tokens
 * of the new one.
 */
import type { BucketHistory } from "./bucket-history.js";

/** How long a change waits for the answers to the calls before it, ms. */
const PATIENCE = 1_000;

export class CallGate {
  readonly #history: BucketHistory;
  #isClosed = false;
  #waiting: (() => void)[] = [];

  constructor(history: BucketHistory) {
    this.#history = history;
  }

  /**
   * Resolves once the calls that are under way have their answers, or after a second if an answer is
   * lost.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    const history = this.#history;
    if (history.counts.waiting === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, PATIENCE);
      const unsubscribe = history.subscribe(() => history.counts.waiting === 0 && end());
      function end(): void {
        clearTimeout(timer);
        unsubscribe();
        resolve();
      }
    });
  }

  open(): void {
    this.#isClosed = false;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves at once while the gate is open. */
  async whenOpen(): Promise<void> {
    if (this.#isClosed) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
