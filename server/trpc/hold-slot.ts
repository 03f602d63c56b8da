/**
 * Holds a slot while a procedure runs. If the answer is a stream, the slot is held to the end of the
 * stream. If the answer has streams and promises in it, which tRPC sends as they come, the slot is held
 * until all streams and promises have ended.
 */
import { holdingSlot, takenOver } from "./held-stream.js";
import type { MiddlewareFunction } from "./trpc-types.js";
import type { EnterGranted } from "../limiter/types/enter.js";

type Result = Awaited<ReturnType<MiddlewareFunction<object, object, object, object, unknown>>>;

interface Answer {
  /** The signal of the request, which is aborted when the client goes away. */
  signal: AbortSignal | undefined;
  isSubscription: boolean;
  /** How long a stream may go on once its client has gone, ms. */
  patience: number;
}

type Slot = Pick<EnterGranted, "release" | "signal" | "isTakenOver">;

/** The result of the procedure. The slot is released now, or when the stream of the result ends. */
export async function releasedAfter(
  result: Result,
  slot: Slot,
  { signal, isSubscription, patience }: Answer,
): Promise<Result> {
  if (result.ok && isObservable(result.data) && isSubscription && signal?.aborted === false) {
    // Release the slot at the end of the request, too: an observable may never be observed.
    signal.addEventListener("abort", () => void slot.release(), { once: true });
    return { ...result, data: observedWithSlot(result.data, slot) };
  }
  if (!result.ok) {
    await slot.release();
    return result;
  }
  const parts = new Parts(slot, signal, patience);
  const data = parts.held(result.data);
  await parts.end();
  return { ...result, data };
}

/** The parts of an answer that are still to come. The slot is released when no part is left. */
class Parts {
  /** The number of parts left. The answer itself counts as a part, until it was searched for parts. */
  #left = 1;

  constructor(
    private readonly slot: Slot,
    private readonly signal: AbortSignal | undefined,
    private readonly patience: number,
  ) {}

  async end(): Promise<void> {
    if (--this.#left === 0) await this.slot.release();
  }

  /**
   * The same value, with each stream and promise replaced by a part that says when it ends. tRPC looks
   * for streams and promises in plain objects, too.
   */
  held(value: unknown): unknown {
    const part = this.#part(value);
    if (part !== undefined || !isPlainObject(value)) return part ?? value;
    const entries = Object.entries(value).map(([key, item]) => [key, this.#part(item)] as const);
    const found = entries.filter(([, item]) => item !== undefined);
    return found.length === 0 ? value : { ...value, ...Object.fromEntries(found) };
  }

  /** `undefined` for a value that is neither a stream nor a promise. */
  #part(value: unknown): unknown {
    if (isAsyncIterable(value)) {
      const { signal, patience } = this;
      const part = { ...this.#begin(), lost: this.slot.signal, isTakenOver: this.#isTakenOver };
      return holdingSlot(value, part, signal, patience, (item) => this.held(item));
    }
    return isPromise(value) ? this.#awaited(value) : undefined;
  }

  readonly #isTakenOver = () => this.slot.isTakenOver;

  #begin(): Pick<EnterGranted, "release"> {
    this.#left++;
    let ended: Promise<void> | undefined;
    return { release: () => (ended ??= this.end()) };
  }

  #awaited(promise: Promise<unknown>): Promise<unknown> {
    const { signal, patience } = this;
    const { release } = this.#begin();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => void (timer = setTimeout(() => void release(), patience));
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      void release();
    };
    const held = Promise.resolve(promise)
      .then((value) => this.held(value))
      .finally(end);
    // A reader of the promise receives its rejection. An answer in plain JSON has no such reader, and the
    // rejection must not end the process.
    held.catch(() => {});
    return held;
  }
}

/** The part of an observable that the adapters of tRPC use. */
interface Observable {
  subscribe(observer: Partial<Observer>): { unsubscribe(): void };
}

interface Observer {
  next(value: unknown): void;
  error(error: unknown): void;
  complete(): void;
}

/**
 * The same observable, which releases the slot when it completes, fails, or is no longer observed. The
 * signal of the request is not enough: over a WebSocket, the signal is not aborted when an observable
 * completes.
 */
function observedWithSlot(observable: Observable, slot: Slot): Observable {
  const subscribe: Observable["subscribe"] = (observer) => {
    const release = () => {
      slot.signal.removeEventListener("abort", onLost);
      void slot.release();
    };
    const onLost = () => {
      if (!slot.isTakenOver) return;
      subscription.unsubscribe();
      observer.error?.(takenOver());
    };
    const subscription = observable.subscribe({
      next: (value) => observer.next?.(value),
      error(error) {
        release();
        observer.error?.(error);
      },
      complete() {
        release();
        observer.complete?.();
      },
    });
    // Another call may have taken the slot before the first observer came.
    if (slot.signal.aborted) onLost();
    else slot.signal.addEventListener("abort", onLost, { once: true });
    return {
      unsubscribe() {
        subscription.unsubscribe();
        release();
      },
    };
  };
  return Object.create(observable, { subscribe: { value: subscribe } }) as Observable;
}

function isAsyncIterable(data: unknown): data is AsyncIterable<unknown> {
  return (
    typeof (Object(data) as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function"
  );
}

/** Whether tRPC treats a value as a promise. */
function isPromise(data: unknown): data is Promise<unknown> {
  const { then, catch: caught } = Object(data) as Partial<Promise<unknown>>;
  return typeof then === "function" && typeof caught === "function";
}

function isPlainObject(data: unknown): data is Record<string, unknown> {
  if (typeof data !== "object" || data === null) return false;
  const prototype: unknown = Object.getPrototypeOf(data);
  return prototype === Object.prototype || prototype === null;
}

function isObservable(data: unknown): data is Observable {
  return typeof (Object(data) as Partial<Observable>).subscribe === "function";
}
