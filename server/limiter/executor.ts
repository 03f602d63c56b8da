/**
 * How the limiter's methods reach a store, with or without a bound on how long they wait for it.
 */
import { RateLimitStoreError } from "../../core/errors.js";
import type { Deadline } from "./deadline.js";
import type { OutageLog } from "../report/logger.js";
import type { Call, Decision, RateLimitStore, RowId } from "../store/store.js";

/** Executes decisions on a store. */
export interface Executor {
  apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]>;
  /** `apply` for one decision, by callbacks: it saves a promise and a list per call. */
  submit<TResult>(
    decision: Decision<TResult>,
    done: (result: TResult) => void,
    failed: (error: unknown) => void,
  ): void;
}

/** A call that waits longer than the deadline allows fails as if the store had failed. */
export function withDeadline(deadline: Deadline, store: RateLimitStore): Executor {
  return {
    apply: (decisions) => withinDeadline(deadline, (call) => store.apply(decisions, call)),
    submit(decision, done, failed) {
      const waiting = deadline.wait(decision, done, failed);
      if (store.submit !== undefined) return store.submit(waiting);
      applyOne(
        store,
        decision,
        waiting,
        (result) => waiting.resolve(result),
        (error) => waiting.reject(error),
      );
    },
  };
}

/** Bounds any work on a store. */
export function withinDeadline<TResult>(
  deadline: Deadline,
  work: (call: Call) => Promise<TResult>,
): Promise<TResult> {
  return new Promise((done, failed) => {
    const waiting = deadline.wait(undefined, done, failed);
    work(waiting).then(
      (result) => waiting.resolve(result),
      (error: unknown) => waiting.reject(error),
    );
  });
}

/** For a store inside a transaction: the transaction's owner bounds its time. */
export function withoutDeadline(store: Pick<RateLimitStore, "apply">, outage: OutageLog): Executor {
  const reporting: typeof store = {
    async apply(decisions) {
      try {
        const results = await store.apply(decisions);
        if (outage.isOngoing) outage.end();
        return results;
      } catch (error) {
        reportStoreError(outage, error);
        throw error;
      }
    },
  };
  return {
    apply: (decisions) => reporting.apply(decisions),
    submit: (decision, done, failed) => applyOne(reporting, decision, undefined, done, failed),
  };
}

/**
 * Tells `changed` of the rows that decisions may have written, before their caller gets the answer.
 * Also if they fail, because the answer alone may have been lost.
 */
export function notingChanges(executor: Executor, changed: (row: RowId) => void): Executor {
  const note = (decisions: readonly Decision<unknown>[]) => {
    for (const { readOnly, rows } of decisions) if (!readOnly) for (const row of rows) changed(row);
  };
  return {
    apply: (decisions) => executor.apply(decisions).finally(() => note(decisions)),
    submit(decision, done, failed) {
      const noted =
        <TArgument>(then: (argument: TArgument) => void) =>
        (argument: TArgument) => {
          note([decision]);
          then(argument);
        };
      executor.submit(decision, noted(done), noted(failed));
    },
  };
}

/** Not the errors of the application, and not conflicts, which the owner retries. */
export function reportStoreError(outage: OutageLog, error: unknown): void {
  const { name } = (error ?? {}) as { name?: unknown };
  if (name === "RateLimitStoreError") outage.failed(error);
}

function applyOne<TResult>(
  store: Pick<RateLimitStore, "apply">,
  decision: Decision<TResult>,
  call: Call | undefined,
  done: (result: TResult) => void,
  failed: (error: unknown) => void,
): void {
  store.apply([decision], call).then((results) => {
    // Checked, because an error thrown in this callback would reach no caller.
    if (Array.isArray(results) && results.length === 1) done(results[0]!);
    else failed(new RateLimitStoreError("the store did not answer one decision with one result"));
  }, failed);
}
