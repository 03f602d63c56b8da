/**
 * Bounds how long calls wait. All calls of a limiter wait equally long, so they expire in the order
 * in which they came: one timer, for the oldest, serves them all.
 */
import { MAX_TIMEOUT } from "../core/durations.js";
import { type LazyTimer, lazyTimer } from "./lazy-timer.js";
import type { Call } from "./store/store.js";

/** A call that waits for a decision, or for several, and whom to tell what came of it. */
export class Waiting<TDecision = unknown, TResult = never> implements Call {
  expired = false;
  /**
   * Its neighbours while it waits. In a `Set` of those that wait, whose tables are made anew again
   * and again, a busy limiter passed less than half as many calls.
   */
  before: Waiting | undefined;
  after: Waiting | undefined;

  constructor(
    readonly decision: TDecision,
    readonly expiresAt: number,
    private readonly deadline: Deadline,
    private readonly done: (result: TResult) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Ignored after the first answer, as is `reject`. */
  resolve(result: TResult): void {
    if (this.deadline.forget(this)) this.done(result);
  }

  reject(error: unknown): void {
    if (this.deadline.forget(this)) this.failed(error);
  }

  expire(error: Error): void {
    this.expired = true;
    this.reject(error);
  }
}

export class Deadline {
  private oldest: Waiting | undefined;
  private newest: Waiting | undefined;
  private timer: LazyTimer | undefined;

  /** @param timeout ms. `Infinity` waits for ever. */
  constructor(
    private readonly timeout: number,
    private readonly late: () => Error,
  ) {}

  /** From now on, `done` or `failed` is called once: by who has the answer, or when it is late. */
  wait<TDecision, TResult>(
    decision: TDecision,
    done: (result: TResult) => void,
    failed: (error: unknown) => void,
  ): Waiting<TDecision, TResult> {
    const expiresAt = performance.now() + this.timeout;
    const waiting = new Waiting(decision, expiresAt, this, done, failed);
    waiting.before = this.newest;
    if (this.newest === undefined) this.oldest = waiting;
    else this.newest.after = waiting;
    this.newest = waiting;
    if (this.timer === undefined) this.arm();
    else if (waiting.before === undefined) this.timer.ref();
    return waiting;
  }

  /** Whether it was still waiting. */
  forget(waiting: Waiting): boolean {
    const { before, after } = waiting;
    if (before === undefined && this.oldest !== waiting) return false;
    if (before === undefined) this.oldest = after;
    else before.after = after;
    if (after === undefined) this.newest = before;
    else after.before = before;
    // Or one that is no longer needed, but not yet collected, would keep all that came after it.
    waiting.before = waiting.after = undefined;
    // Kept for the next call, which is cheaper than a timer per call, but not the process with it.
    if (this.oldest === undefined) this.timer?.unref();
    return true;
  }

  private arm(): void {
    if (this.oldest === undefined || this.timeout === Infinity) return;
    const left = this.oldest.expiresAt - performance.now();
    this.timer = lazyTimer(() => this.expire(), Math.min(Math.max(0, left), MAX_TIMEOUT));
  }

  private expire(): void {
    this.timer = undefined;
    const now = performance.now();
    while (this.oldest !== undefined && this.oldest.expiresAt <= now) {
      this.oldest.expire(this.late());
    }
    this.arm();
  }
}
