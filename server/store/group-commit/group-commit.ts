/**
 * Group commit: calls that wait while a batch is in flight go out together in the next one, in one
 * or two statements, whatever the number of keys. The longer the database takes, the more calls
 * each batch carries, so throughput grows with contention.
 *
 * Measured and rejected on PostgreSQL:
 * - one batch in flight, and four;
 * - dispatching the next batch before the answered callers have called again (-50 %, 3 processes,
 *   many rows).
 */
import { startTimer, type Timer } from "../../timers/timer.js";
import { pauseBefore } from "../retry-conflicts.js";
import type { RowAccess } from "../row-access.js";
import type { Call, Decision, RateLimitStore } from "../store.js";
import type { Batch, Job, Way } from "./batch.js";
import { type BatchReports, createBatchReports } from "./batch-reports.js";
import { createBatchQueue, type InFlight, MAX_CALLS } from "./batch-queue.js";
import { type BatchOutcome, commitGeneral } from "./commit-general.js";
import { commitPlain } from "./commit-plain.js";
import { createRowHistory, type RowHistory } from "./row-history.js";
import { Silence } from "./silence.js";

/**
 * A batch in flight for longer than this, ms, has stalled: other batches are dispatched as if it
 * were not in flight. Its connection may have gone silent.
 */
const STALLED_AFTER = 5000;
/** The same for a take of one row, which may wait for a transaction that holds the row. */
const WAITING_AFTER = 100;
/**
 * A batch that locks its rows is set aside after this time, ms: another transaction holds one of
 * them. Its rows stay busy, and batches on other rows are dispatched meanwhile.
 */
const ASIDE_AFTER = 50;
/**
 * The most batches set aside. Each of them keeps a connection. The last place is for a batch that
 * has just begun to wait, and not for calls that have waited before.
 */
const MAX_ASIDE = 3;
/** The most stalled batches. Each of them keeps a connection. */
const MAX_STALLED = 2;
/**
 * If no batch was answered for this time, ms, the oldest stalled batch is given up, and another one
 * is dispatched in its place, perhaps on a connection that works. The time doubles with each.
 */
const SILENT_AFTER = 10_000;
/** The most batches given up and still without an answer. Each of them keeps a connection. */
const MAX_GIVEN_UP = 2;

/** What several queues of one store may share. */
interface Shared {
  history: RowHistory;
  reports: BatchReports;
  /** Whether to end timers that nothing waits for, where timers cannot be left behind. */
  endsTimers: boolean;
}

/** @param random between 0 and 1, for the jitter after conflicts. */
export function createGroupCommit(
  access: RowAccess,
  random: () => number = Math.random,
  { history, reports, endsTimers }: Shared = {
    history: createRowHistory(),
    reports: createBatchReports(),
    endsTimers: false,
  },
): RateLimitStore {
  const queue = createBatchQueue(access, history);
  const silence = new Silence(access);
  const idle: InFlight = { reading: false, locking: false, mayWait: !access.serializable };
  /** When each batch in flight was dispatched, by the monotonic clock. */
  const inFlight = new Map<Batch, number>();
  /** The same for those that were set aside. */
  const aside = new Map<Batch, number>();
  const stalled = new Set<Batch>();
  const givenUp = new Set<Batch>();
  /** When a batch was last answered or given up, by the monotonic clock. */
  let lastChange = performance.now();
  let watcher: Timer | undefined;
  let scheduled = false;
  /** Whether `access.prepare` is running. */
  let preparing = false;
  /** How often it has failed in a row. */
  let failures = 0;

  /** Dispatches in a microtask, so that calls made in the same tick share the first batch. */
  function schedule(when: (run: () => void) => unknown = queueMicrotask): void {
    if (scheduled || queue.size === 0) return;
    scheduled = true;
    when(() => {
      scheduled = false;
      dispatch();
    });
  }

  function dispatch(): void {
    if (preparing) return;
    const prepared = access.prepare?.();
    if (prepared !== undefined) return prepare(prepared);
    if (inFlight.size + aside.size > 0) leaveStalledBehind();
    while (queue.size > 0 && inFlight.size < access.maxInFlight) {
      const isIdle = inFlight.size + aside.size === 0;
      const batch = queue.next(
        isIdle
          ? idle
          : {
              reading: isInFlight("read"),
              locking: isInFlight("lock"),
              mayWait: mayWait(MAX_ASIDE - 1),
            },
      );
      if (batch === undefined) return;
      void runBatch(batch);
    }
  }

  function prepare(prepared: Promise<void>): void {
    preparing = true;
    const startedAt = performance.now();
    watch();
    const end = () => {
      preparing = false;
      schedule();
    };
    prepared.then(
      () => {
        failures = 0;
        silence.answered(performance.now());
        end();
      },
      (error: unknown) => {
        failures++;
        if (access.isConflict(error)) {
          setTimeout(end, pauseBefore(failures, random));
          return;
        }
        const calls = queue.size;
        queue.rejectAll(access.wrap(error));
        end();
        reports.unprepared(calls, performance.now() - startedAt);
      },
    );
  }

  /** A Serializable transaction does not wait for rows, and conflicts with those beside it. */
  const mayWait = (places = MAX_ASIDE) => !access.serializable && aside.size < places;

  function setAside(batch: Batch, startedAt: number): void {
    inFlight.delete(batch);
    aside.set(batch, startedAt);
    queue.setAside(batch);
  }

  function isInFlight(way: Way): boolean {
    for (const batch of inFlight.keys()) if (batch.way === way) return true;
    return false;
  }

  async function runBatch(batch: Batch): Promise<void> {
    const startedAt = performance.now();
    if (inFlight.size + aside.size + stalled.size + givenUp.size === 0) lastChange = startedAt;
    inFlight.set(batch, startedAt);
    queue.occupy(batch);
    if (batch.waits) setAside(batch, startedAt);
    watch();
    const isHurried = batch.way !== "take" && !batch.waits && !mayWait();
    const mayBeAside = batch.way === "lock" && !batch.waits && !isHurried;
    // One ms more, because timers may be early.
    const locking = mayBeAside ? setTimeout(dispatch, ASIDE_AFTER + 1) : undefined;
    // While a batch waits for held rows, a take waits for its own for a bounded time only.
    const outcome = await (batch.way === "take"
      ? commitPlain(batch, access, stalled.size + aside.size === 0)
      : commitGeneral(batch, access, isHurried));
    for (const id of outcome.written) history.written(id);
    for (const [id, until] of outcome.spent) history.spent(id, until);
    const answeredAt = performance.now();
    lastChange = answeredAt;
    if (!outcome.failed) silence.answered(answeredAt);
    clearTimeout(locking);
    if (inFlight.delete(batch) || aside.delete(batch)) queue.release(batch);
    else if (!stalled.delete(batch)) givenUp.delete(batch);
    if (inFlight.size + aside.size === 0) rest();
    decideAgain(batch, outcome);
    // A large next batch goes out before the callers are answered. A small one waits for them: an
    // answered caller may call again at once, and can then join it.
    if (queue.writers >= MAX_CALLS / 2) dispatch();
    outcome.answer();
    schedule(afterAnswers);
    reports.answered(batch, outcome, answeredAt - startedAt);
  }

  function decideAgain(batch: Batch, outcome: BatchOutcome): void {
    const conflicts = queue.finish(batch, outcome);
    const { again, nextWay } = outcome;
    if (again.length === 0) return;
    // Back off only if the same way is tried again, so that it does not meet the same conflict.
    if (batch.way === "read" || batch.way !== nextWay || conflicts === 0) {
      queue.putBack(batch, again);
      return;
    }
    const retry = () => {
      queue.putBack(batch, again);
      schedule();
    };
    setTimeout(retry, pauseBefore(conflicts, random));
  }

  /**
   * Looks for stalled batches in intervals. New calls do not, because calls on the rows of a batch
   * in flight are not dispatched.
   */
  function watch(): void {
    if (watcher !== undefined) return watcher.ref();
    watcher = startTimer(() => {
      watcher = undefined;
      if (hasWaited()) silence.look();
      if (inFlight.size + aside.size === 0 && !preparing) return;
      watch();
      dispatch();
    }, WAITING_AFTER);
  }

  /** Nothing needs the watcher now. */
  function rest(): void {
    if (!endsTimers) return watcher?.unref();
    watcher?.stop();
    watcher = undefined;
  }

  /** Whether the database may be silent: something has no answer that is not new. */
  function hasWaited(): boolean {
    if (preparing || aside.size + stalled.size + givenUp.size > 0) return true;
    const [oldest] = inFlight.values();
    return oldest !== undefined && performance.now() - oldest >= WAITING_AFTER / 2;
  }

  /**
   * Releases the rows of stalled batches: a silent connection must not delay calls that another
   * connection could carry. If a stalled batch writes after all, its writes are guarded.
   */
  function leaveStalledBehind(): void {
    const now = performance.now();
    for (const [batch, startedAt] of inFlight) {
      const isLocking = batch.way === "lock" && now - startedAt >= ASIDE_AFTER;
      if (isLocking && mayWait()) setAside(batch, startedAt);
    }
    for (const waiting of [inFlight, aside]) {
      for (const [batch, startedAt] of waiting) {
        if (now - startedAt < patience(batch)) continue;
        if (stalled.size === MAX_STALLED && !giveUpOldest(now)) return;
        waiting.delete(batch);
        stalled.add(batch);
        queue.release(batch);
      }
    }
  }

  /** Makes room for another stalled batch, if no batch was answered for long. */
  function giveUpOldest(now: number): boolean {
    const isSilent = now - lastChange >= SILENT_AFTER * 2 ** givenUp.size;
    if (!isSilent || givenUp.size === MAX_GIVEN_UP) return false;
    const [oldest] = stalled;
    stalled.delete(oldest!);
    givenUp.add(oldest!);
    lastChange = now;
    return true;
  }

  function submit(job: Job): void {
    if (queue.add(job)) schedule();
  }

  return {
    submit,
    onBatch: reports.subscribe,
    isSilentSince: (since) => silence.isSilentSince(since),
    apply<TResult>(decisions: readonly Decision<TResult>[], call?: Call): Promise<TResult[]> {
      const decide = (decision: Decision<TResult>) =>
        new Promise((resolve, reject) => {
          submit({
            decision,
            resolve,
            reject,
            get expired() {
              return call?.expired ?? false;
            },
          });
        });
      return Promise.all(decisions.map(decide)) as Promise<TResult[]>;
    },
  };
}

function patience({ way, rows }: Batch): number {
  return way === "take" && rows.size === 1 ? WAITING_AFTER : STALLED_AFTER;
}

/** Runs after the callers have handled their answers. Read early, before a test fakes timers. */
const afterAnswers: (run: () => void) => unknown = globalThis.setImmediate ?? queueMicrotask;
