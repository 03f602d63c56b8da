/**
 * A stream that holds a slot.
 *
 * | the stream ends because          | its work is closed     | the slot is released                         |
 * | -------------------------------- | ---------------------- | -------------------------------------------- |
 * | it has come to its end or failed | by itself              | after its last step                          |
 * | it is no longer read             | by the reader's return | when the work has ended                      |
 * | no reader has begun to read it   | after `UNREAD_FOR`     | when the work has ended                      |
 * | a later call took the slot over  | at once                | when the work has ended                      |
 * | the client has gone away         | at once                | when the work has ended, or after `patience` |
 */
import { TRPCError } from "@trpc/server";

/** The slot of a stream. */
interface HeldSlot {
  release(): Promise<void>;
  /** Aborted when the slot is lost. */
  lost: AbortSignal;
  isTakenOver(): boolean;
}

type Step = IteratorResult<unknown>;

/** How long a stream that is not read yet holds its slot at most, ms. */
const UNREAD_FOR = 10_000;

/** The error that ends a stream after a later call with the same `holder` has taken the slot over. */
export function takenOver(): TRPCError {
  const message = "A later call with the same holder goes on in place of this one";
  // tRPC's client must not reconnect on this code, or two pages would end each other's streams for ever.
  return new TRPCError({ code: "CONFLICT", message });
}

/**
 * The same stream, which releases the slot when it ends, fails, or is no longer read. A stream that is
 * never read is closed after a while: tRPC answers a plain HTTP request for a stream with 415, and leaves
 * the stream open.
 */
export function holdingSlot(
  ...given: ConstructorParameters<typeof HeldStream>
): AsyncIterable<unknown> {
  const { next, close, fail } = new HeldStream(...given);
  // An answer in plain JSON must not show the fields of the class.
  return { [Symbol.asyncIterator]: () => ({ next, return: close, throw: fail }) };
}

class HeldStream {
  readonly #iterator: AsyncIterator<unknown>;
  /** Closes a stream that has no reader. */
  readonly #unread: ReturnType<typeof setTimeout>;
  /** Releases the slot of a client that has gone away. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Rejects the step that the reader waits for. */
  #rejectStep: ((error: TRPCError) => void) | undefined;
  /** Whether the slot was taken over between two steps: the next step rejects. */
  #isTakenOver = false;

  /**
   * @param signal the signal of the request, which is aborted when the client goes away.
   * @param patience how long the stream may go on then, ms.
   * @param passed what the reader gets for a value of the stream.
   */
  constructor(
    stream: AsyncIterable<unknown>,
    private readonly slot: HeldSlot,
    private readonly signal: AbortSignal | undefined,
    private readonly patience: number,
    private readonly passed: (value: unknown) => unknown,
  ) {
    this.#iterator = stream[Symbol.asyncIterator]();
    this.#unread = setTimeout(() => this.#closeUnasked(), Math.min(patience, UNREAD_FOR));
    if (signal?.aborted) this.#onAbort();
    else signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (slot.lost.aborted) this.#onLost();
    else slot.lost.addEventListener("abort", this.#onLost, { once: true });
  }

  readonly next = (...value: [] | [undefined]): Promise<Step> => {
    clearTimeout(this.#unread);
    if (this.#isTakenOver) {
      this.#isTakenOver = false;
      return Promise.reject(takenOver());
    }
    return this.#releasing(this.#stepUnlessLost(this.#iterator.next(...value)));
  };

  readonly close = async (value: unknown): Promise<Step> => {
    try {
      const closed = await this.#iterator.return?.(value);
      return closed ?? { done: true, value };
    } finally {
      await this.#end();
    }
  };

  readonly fail = (error: unknown): Promise<Step> =>
    this.#iterator.throw === undefined
      ? this.close(undefined)
      : this.#releasing(this.#iterator.throw(error));

  /** Called when the slot is lost. Ends the stream if a later call has taken the slot over. */
  readonly #onLost = (): void => {
    if (!this.slot.isTakenOver()) return;
    if (this.#rejectStep === undefined) this.#isTakenOver = true;
    else this.#rejectStep(takenOver());
    this.#closeUnasked();
  };

  /**
   * Closes the stream, and releases the slot after `patience` at the latest. The work may go on for a
   * while: a generator only ends at its next `yield`.
   */
  readonly #onAbort = (): void => {
    this.#timer = setTimeout(() => void this.#end(), this.patience);
    this.#closeUnasked();
  };

  /** Nobody waits for this end of the stream. */
  #closeUnasked(): void {
    void this.close(undefined).catch(() => {});
  }

  /**
   * Rejects when a later call takes the slot over, and does not wait for the generator's present step.
   */
  #stepUnlessLost(step: Promise<Step>): Promise<Step> {
    return new Promise((resolve, reject) => {
      this.#rejectStep = reject;
      const end = () => (this.#rejectStep = undefined);
      step.finally(end).then(resolve, reject);
    });
  }

  async #releasing(step: Promise<Step>): Promise<Step> {
    try {
      const { done, value } = await step;
      // Hold the parts of the value before the stream ends, or the slot could be released too early.
      const result = { done: done === true, value: this.passed(value) };
      if (result.done) await this.#end();
      return result;
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async #end(): Promise<void> {
    clearTimeout(this.#unread);
    clearTimeout(this.#timer);
    this.signal?.removeEventListener("abort", this.#onAbort);
    this.slot.lost.removeEventListener("abort", this.#onLost);
    await this.slot.release();
  }
}
