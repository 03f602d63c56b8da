/**
 * Writes the usage that this process has counted, every few seconds: one statement adds to many rows. A
 * sum that could not be written is kept for the next flush.
 *
 * When the answer to a write is lost, the write may have taken effect, and is sent again all the same. So
 * such a sum may count twice. A sum is lost only with its process, or where no more sums are kept.
 */
import { requestsOwnIo } from "../../runtime/requests-own-io.js";
import type { WaitUntil } from "../../report/wait-until.js";
import type { RateLimitLogger } from "../../report/logger.js";
import { beforeExit } from "../../timers/before-exit.js";
import { startTimer } from "../../timers/timer.js";
import type { Ask } from "../answers/asked.js";
import { additions, counterRows, notedAddition } from "../claims/counters.js";
import { ALL_KEYS, type SpanSums, type UsageSums } from "./usage-sums.js";

/** Rows that are written at a time. Calls that come meanwhile go out between two such writes. */
const ROWS = 500;
/** Sums of keys are written before their time if there are so many of them. */
const MANY_SUMS = 20_000;

export interface UsageFlushParts {
  readonly sums: UsageSums;
  /** How long sums wait, ms. */
  readonly every: number;
  readonly waitUntil: WaitUntil | undefined;
  clock(): number;
  readonly logger: RateLimitLogger;
  /** Asks the store for one decision, within the deadline. */
  readonly ask: Ask;
}

/** One sum of one counter. */
interface Addition {
  readonly span: SpanSums;
  readonly key: string;
  readonly shard: number;
  readonly count: number;
}

export class UsageFlush {
  /** Whether requests own their I/O. No call may then wait for a write that another request has sent. */
  readonly #isPerRequest = requestsOwnIo();
  /** Whether the next flush is scheduled. */
  #isDue = false;
  #isEarly = false;
  #isFull = false;
  #last: Promise<void> = Promise.resolve();
  #endExit: (() => void) | undefined;

  constructor(private readonly parts: UsageFlushParts) {}

  /** After each count: begins to wait for a flush, or flushes early. */
  counted(hasRoom: boolean): void {
    if (!hasRoom) this.#tellOfLoss();
    if (!this.#isDue) this.#schedule();
    else if (!this.#isEarly && this.parts.sums.size >= MANY_SUMS) this.#flushEarly();
  }

  /**
   * Writes all that was counted until now. Calls at the same time take turns.
   *
   * @throws RateLimitStoreError if the store fails. Sums that were not written are kept.
   */
  flush(): Promise<void> {
    if (this.#isPerRequest) return this.#write();
    const run = () => this.#write();
    return (this.#last = this.#last.then(run, run));
  }

  /** Resolves when nothing is being written. */
  async idle(): Promise<void> {
    if (!this.#isPerRequest) await this.#last.catch(() => {});
  }

  #schedule(): void {
    this.#isDue = true;
    const { every, waitUntil } = this.parts;
    if (this.#isPerRequest) {
      // A limiter may live for one request only, so its sums do not wait.
      waitUntil?.(Promise.resolve().then(() => this.#flushDue()));
      return;
    }
    if (waitUntil !== undefined) {
      waitUntil(new Promise((done) => this.#after(every, () => this.#flushDue().then(done))));
      return;
    }
    this.#after(every, () => this.#flushDue());
    this.#endExit ??= beforeExit(() => {
      this.#endExit = undefined;
      // No flush follows this one, or the process would never end while the store is down.
      this.flush().catch(() => {});
    });
  }

  #after(ms: number, run: () => Promise<void>): void {
    // The timer does not keep the process alive.
    startTimer(() => void run(), ms).unref();
  }

  /** Never rejects: the failures of a store are reported where they happen. */
  async #flushDue(): Promise<void> {
    this.#isDue = false;
    await this.flush().catch(() => {});
    // Sums that were put back wait for another flush: with a timer, for its time; without a timer, for
    // the next call.
    const hasTimer = !this.#isPerRequest && this.parts.waitUntil === undefined;
    if (hasTimer && !this.#isDue && this.parts.sums.size > 0) this.#schedule();
  }

  #flushEarly(): void {
    this.#isEarly = true;
    const ended = this.flush().then(
      () => (this.#isEarly = false),
      // The store is down: no other early flush before a flush has succeeded.
      () => {},
    );
    this.parts.waitUntil?.(ended);
  }

  async #write(): Promise<void> {
    const { sums, clock } = this.parts;
    sums.moveLate(clock());
    const all = sums.take();
    let error: unknown;
    for (const part of partsOf(all)) {
      // After a failure, the other parts are kept without a try, because each try may take a whole
      // timeout.
      if (error === undefined) error = await this.#writeRows(part);
      else this.#putBack(part);
    }
    // oxlint-disable-next-line no-throw-literal -- the error of the store as it is
    if (error !== undefined) throw error;
    this.#isEarly = this.#isFull = false;
    if (sums.size > 0) return;
    this.#endExit?.();
    this.#endExit = undefined;
  }

  /** @returns the first error, if there was one. The sums that were not written are put back. */
  #writeRows(additionsOfSpan: readonly Addition[]): Promise<unknown> {
    const decided = decisionsOf(additionsOfSpan);
    return new Promise((done) => {
      let left = decided.length;
      let first: unknown;
      for (const { decision, of } of decided) {
        const ended = () => --left === 0 && done(first);
        this.parts.ask({
          toDecision: () => decision,
          done: ended,
          failed: (error) => {
            first ??= error ?? new Error("the rate limit store failed");
            this.#putBack(of);
            ended();
          },
        });
      }
    });
  }

  #putBack(all: readonly Addition[]): void {
    const { sums } = this.parts;
    for (const { span, key, shard, count } of all) {
      if (!sums.putBack(span, key, shard, count)) this.#tellOfLoss();
    }
  }

  #tellOfLoss(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    this.parts.logger.error(
      "trpc-rate-limit: the usage of some keys is lost: the rate limit store has been down for so long " +
        "that no more sums are kept. The sums of all keys together are complete. This is reported once, " +
        "until usage is written again.",
    );
  }
}

/**
 * The decisions that add to rows of one span. Each addition has a decision of its own, which a store carries
 * out by itself. A key whose spans are told has one decision, because the note of the span has to come
 * together with what was counted.
 */
function decisionsOf(all: readonly Addition[]) {
  const { span } = all[0]!;
  const rowOf = counterRows(span);
  const decisionOf = additions(span);
  const alone = ({ key }: Addition) => !span.terms.changes || key === ALL_KEYS;
  const byKey = new Map<string, Addition[]>();
  for (const each of all) {
    if (alone(each)) continue;
    byKey.set(each.key, [...(byKey.get(each.key) ?? []), each]);
  }
  return [
    ...all.filter(alone).map((each) => {
      return { decision: decisionOf(rowOf(each.key, each.shard), each.count), of: [each] };
    }),
    ...[...byKey].map(([key, of]) => {
      const counts = of.map(({ shard, count }) => [shard, count] as const);
      return { decision: notedAddition(span, key, counts), of };
    }),
  ];
}

/** The sums as additions to rows, in parts of one span and of a size that a statement takes. */
function* partsOf(all: readonly SpanSums[]): Generator<Addition[]> {
  for (const span of all) {
    let part: Addition[] = [];
    for (const [key, counts] of span.keys) {
      for (const [shard, count] of counts.entries()) {
        if (count === 0) continue;
        part.push({ span, key, shard, count });
        if (part.length < ROWS) continue;
        yield part;
        part = [];
      }
    }
    if (part.length > 0) yield part;
  }
}
