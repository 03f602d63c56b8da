/** A caller's wait in line for a slot: the caller asks now and then whether its turn has come. */
import { changeDigest } from "../../changes/change-digest.js";
import type { ChangeListener } from "../../changes/change-channel.js";
import type { Context } from "../context/context.js";
import { handOver } from "./hand-over.js";
import { type InLine, lineDecision } from "./line-decisions.js";
import type { Entered } from "./slot-decisions.js";
import type { SlotsLimit } from "./slots-limit.js";

export interface LineContext extends Pick<Context, "apply" | "environment"> {
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after each change by this process, and by other processes where there is a channel. */
  listen(listener: ChangeListener): () => void;
}

interface Wait {
  /** ms. */
  maxWait: number;
  signal: AbortSignal | undefined;
  onPlace: ((place: number) => void) | undefined;
  /** Whether the caller takes over a slot that has its nonce. */
  isNamed: boolean;
}

/**
 * The pause between two questions of the first caller in line, ms. Callers behind it pause up to four
 * times as long.
 */
const PAUSE = 250;

/** An answer, and when the caller asked, by the monotonic clock. */
interface Answer {
  entered: Entered;
  sentAt: number;
}

/** Resolves with `denied` when the wait is over or the line is full. */
export function waitInLine(
  context: LineContext,
  limit: SlotsLimit,
  nonce: number,
  wait: Wait,
): Promise<Answer> {
  return new WaitInLine(context, limit, nonce, wait).run();
}

class WaitInLine {
  readonly #caller: InLine;
  /** When the wait is over, epoch ms. */
  readonly #until: number;
  /** The last place that the caller was told. */
  #place: number | undefined;
  /** Whether the slots have changed since the caller last asked. */
  #isNews = false;
  /** Ends the pause. */
  #wake = new AbortController();

  constructor(
    private readonly context: LineContext,
    private readonly limit: SlotsLimit,
    private readonly nonce: number,
    private readonly wait: Wait,
  ) {
    const { maxWait, isNamed } = wait;
    this.#caller = { seat: undefined, stays: maxWait > 0, isNamed };
    this.#until = context.environment.clock() + maxWait;
  }

  async run(): Promise<Answer> {
    const { signal } = this.wait;
    const digest = changeDigest(this.limit.name, this.limit.key);
    const unlisten = this.context.listen((changed) => {
      if (changed !== digest) return;
      this.#isNews = true;
      this.#wake.abort();
    });
    const onAbort = () => this.#wake.abort();
    signal?.addEventListener("abort", onAbort);
    try {
      return await this.#askUntilAnswered();
    } catch (error) {
      await this.#leave();
      throw error;
    } finally {
      unlisten();
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async #askUntilAnswered(): Promise<Answer> {
    const { signal, onPlace } = this.wait;
    for (;;) {
      this.#isNews = false;
      const answer = await this.#ask();
      if (answer.entered.kind !== "waiting") return answer;
      signal?.throwIfAborted();
      const { place } = answer.entered;
      const isMoved = place !== this.#place;
      this.#place = place;
      if (isMoved) onPlace?.(place);
      const left = this.#until - this.context.environment.clock();
      if (!(left > 0)) this.#caller.stays = false;
      if (this.#caller.stays && !this.#isNews) await this.#pause(place, left);
    }
  }

  async #ask(): Promise<Answer> {
    const { apply, environment } = this.context;
    const sentAt = performance.now();
    const decision = lineDecision(this.limit, this.#caller, this.nonce, environment);
    const [entered] = (await apply([decision])) as [Entered];
    return { entered, sentAt };
  }

  /** @throws the signal's reason when the signal is aborted meanwhile. */
  async #pause(place: number, left: number): Promise<void> {
    const { signal } = this.wait;
    const ms = Math.min(PAUSE * Math.min(4, place), this.limit.seatTtl / 4, left);
    this.#wake = new AbortController();
    // The signal may have been aborted since it was last looked at.
    if (signal?.aborted) return;
    await this.context.sleep(ms, this.#wake.signal).catch(() => {});
    if (signal?.aborted) throw signal.reason;
  }

  /** Gives the seat up, and the slot that the caller may have got meanwhile. */
  async #leave(): Promise<void> {
    const { apply, environment } = this.context;
    this.#caller.stays = false;
    // If the store fails, the seat and the slot are free when their time is over.
    const { entered } = await this.#ask().catch(() => ({ entered: undefined }));
    if (entered?.kind !== "entered") return;
    await apply([handOver(this.limit, entered.holder, environment)]).catch(() => {});
  }
}
