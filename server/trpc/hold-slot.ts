/** Holds a slot while a procedure runs: to the end of its stream, if its answer is one. */
import type { TRPCMiddlewareFunction } from "@trpc/server";
import type { EnterGranted } from "../limiter/slots/enter-options.js";

type Result = Awaited<ReturnType<TRPCMiddlewareFunction<object, object, object, object, unknown>>>;

interface Answer {
  /** The signal of the request: it is aborted when the client goes away. */
  signal: AbortSignal | undefined;
  isSubscription: boolean;
  /** How long a stream may go on once its client has gone, ms. */
  patience: number;
}

/** How long a stream that is not read yet holds its slot at most, ms. */
const UNREAD_FOR = 10_000;

/** The result of the procedure. The slot is released now, or when the stream of the result ends. */
export async function releasedAfter(
  result: Result,
  slot: EnterGranted,
  { signal, isSubscription, patience }: Answer,
): Promise<Result> {
  if (result.ok && isAsyncIterable(result.data)) {
    return { ...result, data: holdingSlot(result.data, slot, signal, patience) };
  }
  if (result.ok && isObservable(result.data) && isSubscription && signal?.aborted === false) {
    // It may never be observed.
    signal.addEventListener("abort", () => void slot.release(), { once: true });
    return { ...result, data: observedWithSlot(result.data, slot) };
  }
  await slot.release();
  return result;
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
 * The same observable. It releases the slot when it completes, fails, or is no longer observed. The
 * signal does not tell all of that: over a WebSocket, it is not aborted when an observable completes.
 */
function observedWithSlot(observable: Observable, slot: Pick<EnterGranted, "release">): Observable {
  const release = () => void slot.release();
  const subscribe: Observable["subscribe"] = (observer) => {
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
    return {
      unsubscribe() {
        subscription.unsubscribe();
        release();
      },
    };
  };
  return Object.create(observable, { subscribe: { value: subscribe } }) as Observable;
}

/**
 * The same stream. It releases the slot when it ends, fails, or is no longer read. A stream that is
 * never read ends by itself: tRPC answers a plain HTTP request to it with 415, and leaves it open.
 */
export function holdingSlot<TValue>(
  stream: AsyncIterable<TValue>,
  slot: Pick<EnterGranted, "release">,
  signal: AbortSignal | undefined,
  patience: number,
): AsyncIterable<TValue> {
  const iterator = stream[Symbol.asyncIterator]();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const unread = setTimeout(
    () => void close(undefined).catch(() => {}),
    Math.min(patience, UNREAD_FOR),
  );

  async function end(): Promise<void> {
    clearTimeout(unread);
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    await slot.release();
  }

  /** The work may go on for a while: a generator only ends at its next `yield`. */
  function onAbort(): void {
    timer = setTimeout(() => void end(), patience);
    void close(undefined).catch(() => {});
  }

  async function close(value: unknown): Promise<IteratorResult<TValue>> {
    try {
      const closed = await iterator.return?.(value);
      return closed ?? { done: true, value };
    } finally {
      await end();
    }
  }

  async function releasing(step: Promise<IteratorResult<TValue>>): Promise<IteratorResult<TValue>> {
    try {
      const result = await step;
      if (result.done) await end();
      return result;
    } catch (error) {
      await end();
      throw error;
    }
  }

  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  return {
    [Symbol.asyncIterator]: () => ({
      next(...value: [] | [undefined]) {
        clearTimeout(unread);
        return releasing(iterator.next(...value));
      },
      return: close,
      throw: (error: unknown) =>
        iterator.throw === undefined ? close(undefined) : releasing(iterator.throw(error)),
    }),
  };
}

function isAsyncIterable(data: unknown): data is AsyncIterable<unknown> {
  return (
    typeof (Object(data) as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === "function"
  );
}

function isObservable(data: unknown): data is Observable {
  return typeof (Object(data) as Partial<Observable>).subscribe === "function";
}
