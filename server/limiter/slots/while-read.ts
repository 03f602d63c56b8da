/**
 * A stream that holds a slot.
 *
 * | the stream                       | its source                | the slot is released         |
 * | -------------------------------- | ------------------------- | ---------------------------- |
 * | has come to its end, or failed   | has ended by itself       | before the reader hears of it |
 * | is cancelled                     | is cancelled              | when the source has ended    |
 * | is not read for `ttl` ms         | waits, and may go on      | then                         |
 * | lost its slot to a later call    | is cancelled              | by that call                 |
 */
import type { EnterGranted } from "../types/enter.js";

/** The part of a slot that a stream needs. */
export type StreamSlot = Pick<EnterGranted, "release" | "signal" | "isTakenOver">;

/**
 * The same stream, which releases the slot. The stream ends after the release: a host may stop the process
 * at the end of its response.
 *
 * @param ttl how long the reader may be silent, ms. Some hosts neither read nor cancel the body for a client
 * that has left.
 */
export function whileRead<TChunk>(
  stream: ReadableStream<TChunk>,
  slot: StreamSlot,
  ttl: number,
): ReadableStream<TChunk> {
  const source = new HeldSource(stream, slot, ttl);
  // With a mark of 0, a chunk is pulled only when a reader waits for it.
  return new ReadableStream<TChunk>(source, { highWaterMark: 0 });
}

class HeldSource<TChunk> implements UnderlyingDefaultSource<TChunk> {
  readonly #reader: ReadableStreamDefaultReader<TChunk>;
  readonly #slot: StreamSlot;
  readonly #ttl: number;
  #controller: ReadableStreamDefaultController<TChunk> | undefined;
  #unread: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(stream: ReadableStream<TChunk>, slot: StreamSlot, ttl: number) {
    this.#reader = stream.getReader();
    this.#slot = slot;
    this.#ttl = ttl;
    this.#awaitReader();
    slot.signal.addEventListener("abort", this.#onLost, { once: true });
  }

  start(controller: ReadableStreamDefaultController<TChunk>): void {
    this.#controller = controller;
  }

  async pull(controller: ReadableStreamDefaultController<TChunk>): Promise<void> {
    clearTimeout(this.#unread);
    let next;
    try {
      next = await this.#reader.read();
    } catch (error) {
      await this.#end();
      throw error;
    }
    // Another call may have taken the slot over meanwhile.
    if (this.#isOver) return;
    if (next.done) {
      await this.#end();
      controller.close();
    } else {
      controller.enqueue(next.value);
      this.#awaitReader();
    }
  }

  async cancel(reason: unknown): Promise<void> {
    try {
      await this.#reader.cancel(reason);
    } finally {
      await this.#end();
    }
  }

  readonly #onLost = (): void => {
    const { signal, isTakenOver } = this.#slot;
    if (!isTakenOver || this.#isOver) return;
    void this.cancel(signal.reason).catch(() => {});
    this.#isOver = true;
    this.#controller?.error(signal.reason);
  };

  #awaitReader(): void {
    this.#unread = setTimeout(() => void this.#slot.release(), this.#ttl);
    // A slot keeps no process alive: the work that is done with the slot does.
    (this.#unread as Partial<NodeJS.Timeout>).unref?.();
  }

  async #end(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#unread);
    this.#slot.signal.removeEventListener("abort", this.#onLost);
    await this.#slot.release();
  }
}
