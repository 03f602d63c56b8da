/**
 * Resolves the keys and the plans of a stream at intervals, and at once when the plan of one of its keys
 * may have changed. The stream consists of turns: a plan that has changed ends one turn and begins the
 * next.
 *
 * | a stream is     | it comes from | when                                                     |
 * | --------------- | ------------- | -------------------------------------------------------- |
 * | `between turns` | in a turn     | a plan has changed                                       |
 * | `in a turn`     | between turns | `next` is called                                         |
 * | `over`          | any of these  | its caller has left, or another stream has replaced it   |
 * |                 |               | a key was rejected or has changed                        |
 *
 * If a key has changed, the client opens the stream anew.
 */
import { MAX_TIMEOUT } from "../../core/durations.js";
import type { WatchItem } from "./watch-entries.js";
import type { WatchHub } from "./watch-hub.js";

export interface StreamChecksOptions<TName extends string> {
  hub: Pick<WatchHub<TName>, "onPlan">;
  /** ms between two checks. */
  keyInterval: number;
  /** The items with their present keys and plans. */
  resolve(items: readonly WatchItem<TName>[]): Promise<WatchItem<TName>[]>;
  /** The caller's signal. */
  signal: AbortSignal | undefined;
}

export class StreamChecks<TName extends string> {
  #items: readonly WatchItem<TName>[];
  /** Aborted where the turn ends. */
  #turn = new AbortController();
  #isOver = false;
  /** Why a key was rejected. */
  #rejection: { error: unknown } | undefined;
  #isChecking = false;
  /** Whether a plan may have changed during the check. */
  #isNews = false;
  readonly #unlisten: () => void = () => {};
  readonly #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    items: readonly WatchItem<TName>[],
    private readonly options: StreamChecksOptions<TName>,
  ) {
    this.#items = items;
    const { hub, keyInterval, signal } = options;
    if (keyInterval !== Infinity) {
      this.#unlisten = hub.onPlan(items, () => void this.#check());
      this.#timer = setInterval(() => void this.#check(), Math.min(keyInterval, MAX_TIMEOUT));
    }
    if (signal?.aborted) this.end();
    signal?.addEventListener("abort", this.end);
  }

  /** The stream is over. */
  readonly end = (): void => {
    this.#isOver = true;
    this.#turn.abort();
  };

  /** The items of the next turn and its signal; `undefined` when the stream is over. */
  next() {
    if (this.#isOver) return undefined;
    this.#turn = new AbortController();
    return { items: this.#items, signal: this.#turn.signal };
  }

  throwIfRejected(): void {
    if (this.#rejection !== undefined) throw this.#rejection.error;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#unlisten();
    this.options.signal?.removeEventListener("abort", this.end);
  }

  async #check(): Promise<void> {
    this.#isNews = this.#isChecking;
    if (this.#isChecking) return;
    this.#isChecking = true;
    const items = this.#items;
    try {
      const current = await this.options.resolve(items);
      if (current.some(({ key }, i) => key !== items[i]!.key)) this.end();
      else if (current.some(({ plan }, i) => plan !== items[i]!.plan)) {
        this.#items = current;
        this.#turn.abort();
      }
    } catch (error) {
      // Also when a resolver itself has failed: it is then not known whether the caller may read the
      // limit.
      this.#rejection = { error };
      this.end();
    }
    this.#isChecking = false;
    if (this.#isNews && !this.#isOver) await this.#check();
  }
}
