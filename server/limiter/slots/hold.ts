/**
 * A slot while its caller holds it. The slot is renewed by itself, and a signal tells the caller when the
 * slot is lost. The holder's own clock is monotonic and counts from before a write was sent, so the
 * holder always stops before the row's `ttl` has passed.
 */
import { RateLimitStoreError } from "../../../core/errors.js";
import type { Context } from "../context/context.js";
import type { ItemResult } from "../types/limit-all.js";
import { responseWithSlot } from "./during.js";
import { handOver } from "./hand-over.js";
import { type Holder, release, renewal } from "./slot-decisions.js";
import type { SlotsClock } from "./slots-clock.js";
import type { SlotsLimit } from "./slots-limit.js";
import { whileRead } from "./while-read.js";

/** The part of the `ttl` by which a holder ends earlier, for clocks that differ. */
const MARGIN = 0.1;
/** How often a slot is renewed in its `ttl`. */
const RENEWALS = 3;
/** How soon a renewal that failed is tried again, as a part of the `ttl`. */
const AGAIN = 0.1;

/** The environment's clock is that of `slotsClock`. */
export type SlotsContext = Pick<Context, "apply" | "onChange"> & SlotsClock;

/** A slot that a caller holds until `release`. */
export class HeldSlot {
  /** The caller may do its work. */
  readonly ok = true;
  /** One result for each limit of tokens that was charged with the slot. */
  results: readonly ItemResult[] = [];
  readonly #abort = new AbortController();
  #validUntil: number;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #renew: ReturnType<typeof setTimeout> | undefined;
  #released: Promise<void> | undefined;
  #isLost = false;
  #isTakenOver = false;
  #isOfResponse = false;
  readonly #context: SlotsContext;
  readonly #limit: SlotsLimit;
  readonly #holder: Holder;

  /** @param sentAt when the call was sent that entered, by the monotonic clock, ms. */
  constructor(
    context: SlotsContext,
    limit: SlotsLimit,
    holder: Holder,
    sentAt: number,
    /** The slots that were free afterwards, as far as the call has seen them. */
    readonly value: number,
    /** The instant of `value`, epoch ms. */
    readonly ts: number,
  ) {
    this.#context = context;
    this.#limit = limit;
    this.#holder = holder;
    this.#validUntil = this.#endAfter(sentAt);
    this.#schedule(limit.ttl / RENEWALS);
    askingFirst(this.#abort.signal, () => {
      if (this.isLate) this.#lose();
    });
  }

  /**
   * Aborted when the slot is lost: the slot could not be renewed in time, a later call took it over, or
   * the slots were reset. Stop the work then, because another caller may have the slot. `release` does
   * not abort the signal. A look at the signal also asks the clock, because no timer runs while a process
   * stands still or is busy.
   */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether a later call with the same `holder` has the slot now. */
  get isTakenOver(): boolean {
    return this.#isTakenOver;
  }

  /** Whether the answer of the store came so late that the slot may be another caller's. */
  get isLate(): boolean {
    return performance.now() >= this.#validUntil;
  }

  /**
   * Frees the slot, or hands it to the first in line. Only the first call counts. A late call, too, frees
   * no slot but this caller's. `release` does not reject when the store fails: the slot is then free
   * after its `ttl`.
   */
  release(): Promise<void> {
    return (this.#released ??= this.#release());
  }

  /** Ties the slot to the body of a response; see `during` of `EnterGranted`. */
  during(response: Response): Response {
    this.#isOfResponse = true;
    return responseWithSlot(response, this, this.#limit.ttl);
  }

  /** Ties the slot to any stream, as `during` does to a body. */
  whileRead<TChunk>(stream: ReadableStream<TChunk>): ReadableStream<TChunk> {
    return whileRead(stream, this, this.#limit.ttl);
  }

  /** A slot that a response holds outlives the block of its handler. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#isOfResponse ? Promise.resolve() : this.release();
  }

  async #release(): Promise<void> {
    this.#stop();
    try {
      await this.#free();
    } catch {
      // Try once more, when the store may answer again.
      const again = setTimeout(() => void this.#free().catch(() => {}), this.#limit.ttl * AGAIN);
      (again as Partial<NodeJS.Timeout>).unref?.();
    }
  }

  async #free(): Promise<void> {
    const { apply, environment, onChange } = this.#context;
    const [freed] = await apply([release(this.#limit, this.#holder, environment)]);
    if (freed === "line") await apply([handOver(this.#limit, this.#holder, environment)]);
    if (freed === "not held") return;
    this.#limit.seen[this.#holder.shard] = undefined;
    onChange(this.#limit.name, this.#limit.key);
  }

  async #renewNow(): Promise<void> {
    const { apply, environment } = this.#context;
    const sentAt = performance.now();
    // The process may have stood still.
    if (sentAt >= this.#validUntil) return this.#lose();
    try {
      const [ts] = await apply([renewal(this.#limit, this.#holder, environment)]);
      if (this.#isOver()) return undefined;
      if (ts === "taken over") this.#isTakenOver = true;
      if (typeof ts !== "number") return this.#lose();
      this.#holder.writtenAt.splice(0, Infinity, ts);
      this.#validUntil = this.#endAfter(sentAt);
      this.#schedule(this.#limit.ttl / RENEWALS);
    } catch {
      if (!this.#isOver()) this.#schedule(this.#limit.ttl * AGAIN);
    }
  }

  #isOver(): boolean {
    return this.#released !== undefined || this.#isLost;
  }

  #endAfter(sentAt: number): number {
    const { ttl } = this.#limit;
    // A process that knew the time badly may have written an instant of the past.
    const left = this.#holder.writtenAt.at(-1)! + ttl - this.#context.latest();
    return Math.min(sentAt + ttl - ttl * MARGIN, performance.now() + left);
  }

  #schedule(renewIn: number): void {
    this.#stop();
    this.#watch = setTimeout(() => this.#lose(), this.#validUntil - performance.now());
    this.#renew = setTimeout(() => void this.#renewNow(), renewIn);
    // A slot keeps no process alive: the work that is done with the slot does.
    for (const timer of [this.#watch, this.#renew]) (timer as Partial<NodeJS.Timeout>).unref?.();
  }

  #stop(): void {
    clearTimeout(this.#watch);
    clearTimeout(this.#renew);
  }

  #lose(): void {
    if (this.#isOver()) return;
    this.#isLost = true;
    this.#stop();
    const reason = this.#isTakenOver
      ? "a later call with the same holder has taken it over"
      : "it was not renewed in time, or its slots were reset";
    const message =
      `the slot of "${this.#limit.name}" was lost: ${reason}; ` +
      "stop the work, because another caller may have the slot";
    this.#abort.abort(new RateLimitStoreError(message, { isOutage: false }));
  }
}

/**
 * Calls `ask` before each look at whether the signal is aborted. `AbortSignal.any` looks past it in newer
 * versions of Node.js: what it makes hears of a loss when a timer runs, as a listener does.
 */
function askingFirst(signal: AbortSignal, ask: () => void): void {
  const { prototype } = AbortSignal;
  for (const name of ["aborted", "reason"] as const) {
    const { get } = Object.getOwnPropertyDescriptor(prototype, name) ?? {};
    if (get === undefined) continue;
    Object.defineProperty(signal, name, {
      configurable: true,
      get(this: AbortSignal) {
        ask();
        return get.call(this) as unknown;
      },
    });
  }
  Object.defineProperty(signal, "throwIfAborted", {
    configurable: true,
    writable: true,
    value(this: AbortSignal) {
      ask();
      prototype.throwIfAborted.call(this);
    },
  });
}
