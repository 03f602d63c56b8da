/**
 * Bounds how long calls wait. All calls of a limiter have the same timeout, so they expire in the
 * order in which they came, and one timer, for the oldest call, serves all of them.
 */
import type { OutageLog } from "../../report/logger.js";
import type { Call, RateLimitStore, Submission } from "../../store/store.js";
import { type Linked, LinkedList } from "../../timers/linked-list.js";
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import { mayEnd, mayWait, tellsBeforeExit } from "../../timers/stay-alive.js";
import { ON_TIME, startTimer, type Timer } from "../../timers/timer.js";
import type { Apply, Ask, Asked } from "./asked.js";

/** A call that waits for one decision or for several, and its callbacks. */
export class Waiting<TDecision = unknown, TResult = never> implements Call, Linked<Waiting> {
  expired = false;
  before: Waiting | undefined;
  after: Waiting | undefined;

  readonly decision: TDecision;

  constructor(
    private readonly call: Asked<TResult, TDecision>,
    readonly expiresAt: number,
    private readonly deadline: Deadline,
  ) {
    this.decision = call.toDecision();
  }

  /** Only the first `resolve` or `reject` counts. */
  resolve(result: TResult): void {
    if (!this.deadline.forget(this)) return;
    if (this.deadline.outage.isOngoing) this.deadline.outage.end();
    this.call.done(result);
  }

  reject(error: unknown): void {
    if (!this.deadline.forget(this)) return;
    this.deadline.outage.failed(error);
    this.call.failed(error);
  }

  expire(error: Error): void {
    this.expired = true;
    this.reject(error);
  }
}

export class Deadline {
  private readonly calls = new LinkedList<Waiting>();
  private timer: Timer | undefined;
  /** The `expiresAt` of the call that the timer was started for. */
  private armedFor = NaN;
  /** Whether the timer keeps the process alive. */
  private isKept = false;

  /**
   * @param timeout ms; `Infinity` for no bound.
   * @param late makes the error of a call that has expired. `since` is when the call began to wait,
   * by the monotonic clock.
   * @param outage is told of each failure, and of the first success after it.
   */
  constructor(
    protected readonly timeout: number,
    protected readonly late: (since: number) => Error,
    readonly outage: OutageLog,
  ) {}

  /** The call gets the answer, or fails at the deadline. */
  wait<TDecision, TResult>(call: Asked<TResult, TDecision>): Waiting<TDecision, TResult> {
    const waiting = new Waiting(call, performance.now() + this.timeout, this);
    this.calls.append(waiting);
    if (this.timer === undefined) this.arm();
    else if (!tellsBeforeExit && waiting.before === undefined) this.keep(true);
    return waiting;
  }

  /** Ends the wait. Returns whether the call was still waiting. */
  forget(waiting: Waiting): boolean {
    if (!this.calls.remove(waiting)) return false;
    // Keep the timer for the next call: that is cheaper than a timer per call.
    if (this.isKept && this.calls.oldest === undefined) this.keep(false);
    return true;
  }

  /** Called when nothing else keeps the process alive. */
  stayAlive(): void {
    if (this.calls.oldest !== undefined) this.keep(true);
  }

  private keep(isKept: boolean): void {
    this.isKept = isKept;
    if (isKept) this.timer?.ref();
    else this.timer?.unref();
  }

  protected end(): void {
    this.timer?.stop();
    mayEnd(this);
  }

  private arm(): void {
    if (this.calls.oldest === undefined || this.timeout === Infinity) return;
    const { expiresAt } = this.calls.oldest;
    const left = expiresAt - performance.now();
    this.armedFor = expiresAt;
    // The timer may have waited longer for an earlier call, because the process was busy. This call is
    // then late, too, and gets as much time again as it is late.
    this.timer = startTimer(() => this.expire(), left > 0 ? left : Math.min(-left, this.timeout));
    this.keep(!tellsBeforeExit);
    mayWait(this);
  }

  private expire(): void {
    this.timer = undefined;
    mayEnd(this);
    const now = performance.now();
    const { expiresAt = Infinity } = this.calls.oldest ?? {};
    if (now - expiresAt > ON_TIME && expiresAt !== this.armedFor) return this.arm();
    while (this.calls.oldest !== undefined && this.calls.oldest.expiresAt <= now) {
      this.calls.oldest.expire(this.late(this.calls.oldest.expiresAt - this.timeout));
    }
    this.arm();
  }
}

/** A timer per call, for hosts where each request owns its timers. */
class DeadlinePerCall extends Deadline {
  override wait<TDecision, TResult>(call: Asked<TResult, TDecision>): Waiting<TDecision, TResult> {
    return new SingleDeadline(this.timeout, this.late, this.outage).wait(call);
  }
}

class SingleDeadline extends Deadline {
  override forget(waiting: Waiting): boolean {
    const wasWaiting = super.forget(waiting);
    this.end();
    return wasWaiting;
  }
}

/** @param options see {@link Deadline}. */
export function createDeadline(...options: ConstructorParameters<typeof Deadline>): Deadline {
  return requestsOwnIo() ? new DeadlinePerCall(...options) : new Deadline(...options);
}

/** A call that waits longer than the deadline allows fails as if the store had failed. */
export function oneInTime(
  deadline: Deadline,
): (next: (submission: Submission<unknown>) => void) => Ask {
  return (next) => (call) => next(deadline.wait(call));
}

export function inTime(deadline: Deadline): (store: Pick<RateLimitStore, "apply">) => Apply {
  return (store) => (decisions) => withinDeadline(deadline, (call) => store.apply(decisions, call));
}

/** Bounds any work on a store. */
export function withinDeadline<TResult>(
  deadline: Deadline,
  work: (call: Call) => Promise<TResult>,
): Promise<TResult> {
  return new Promise((done, failed) => {
    const waiting = deadline.wait<undefined, TResult>({ toDecision() {}, done, failed });
    work(waiting).then(
      (result) => waiting.resolve(result),
      (error: unknown) => waiting.reject(error),
    );
  });
}
