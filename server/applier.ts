/** How the limiter's verbs reach a store, with a bound on how long they wait for it. */
import { RateLimitStoreError } from "../core/errors.js";
import type { Deadline } from "./deadline.js";
import type { Call, Decision, RateLimitStore } from "./store/store.js";

/** Whatever applies decisions, and answers in time. */
export interface Applier {
  apply<TResult>(decisions: readonly Decision<TResult>[]): Promise<TResult[]>;
  /** The same for one of them, without a promise and a list on the way. */
  submit<TResult>(
    decision: Decision<TResult>,
    done: (result: TResult) => void,
    failed: (error: unknown) => void,
  ): void;
}

/** Whoever waits longer than the deadline allows is told that the store failed. */
export function boundBy(deadline: Deadline, store: RateLimitStore): Applier {
  return {
    apply: (decisions) =>
      new Promise((done, failed) => {
        const waiting = deadline.wait(decisions, done, failed);
        store.apply(decisions, waiting).then(
          (results) => waiting.resolve(results),
          (error: unknown) => waiting.reject(error),
        );
      }),
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

/** For a store inside a transaction, whose owner minds its time. */
export function unbound(store: Pick<RateLimitStore, "apply">): Applier {
  return {
    apply: (decisions) => store.apply(decisions),
    submit: (decision, done, failed) => applyOne(store, decision, undefined, done, failed),
  };
}

function applyOne<TResult>(
  store: Pick<RateLimitStore, "apply">,
  decision: Decision<TResult>,
  call: Call | undefined,
  done: (result: TResult) => void,
  failed: (error: unknown) => void,
): void {
  store.apply([decision], call).then((results) => {
    // Or what comes of nothing would be thrown where nobody hears of it, the caller included.
    if (Array.isArray(results) && results.length === 1) done(results[0]!);
    else failed(new RateLimitStoreError("the store did not answer one decision with one result"));
  }, failed);
}
