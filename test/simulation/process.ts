/**
 * A process in virtual time: an event loop with the phases of Node.js, a clock that can be wrong, and the
 * globals for the code in the process. In one turn of the loop, first the due timers run, then arrived
 * data is read, and then the immediates run. A busy or frozen process does all of this later, all at
 * once.
 */
import { createRandom, type Random } from "./random.js";
import { settle, type Planned, type Timeline } from "./timeline.js";

interface VirtualTimer {
  due: number;
  order: number;
  every: number | undefined;
  run: () => void;
  isRef: boolean;
  ref(): VirtualTimer;
  unref(): VirtualTimer;
  hasRef(): boolean;
}

export interface ProcessOptions {
  timeline: Timeline;
  random: Random;
  /** By how much the process's clock is ahead of the true time, ms. */
  clockError: number;
}

/** The true time at the beginning of each simulation, epoch ms. */
export const EPOCH = Date.UTC(2030, 0, 1);

export class Process {
  readonly timeline: Timeline;
  readonly random: Random;
  /** By how much the process's clock is ahead, ms. A test may set it at any time. */
  clockError: number;
  isDead = false;
  /** When the process stood still, ms. `to` is `Infinity` after a kill. */
  readonly stops: { from: number; to: number }[] = [];
  readonly #timers = new Set<VirtualTimer>();
  #reads: (() => void)[] = [];
  #immediates: (() => void)[] = [];
  #busyUntil = 0;
  /** How long the process's machine has slept in total, ms. */
  #slept = 0;
  #order = 0;
  #wakeAt = Infinity;
  #wake: Planned | undefined;
  #isTurning = false;

  constructor({ timeline, random, clockError }: ProcessOptions) {
    this.timeline = timeline;
    this.random = random;
    this.clockError = clockError;
  }

  /** The time by the process's clock, epoch ms. */
  get epoch(): number {
    return Math.floor(EPOCH + this.timeline.now + this.clockError);
  }

  /** The number of timers that would keep the process alive. */
  get activeTimers(): number {
    return [...this.#timers].filter(({ isRef }) => isRef).length;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Called with data from outside. The process reads it in a turn of the loop. */
  read(run: () => void): void {
    if (this.isDead) return;
    this.#reads.push(run);
    this.#wakeBy(this.timeline.now);
  }

  /** The process computes for this time, or is stopped by its host. */
  pause(ms: number): void {
    const { now } = this.timeline;
    this.stops.push({ from: now, to: now + ms });
    this.#busyUntil = Math.max(this.#busyUntil, now + ms);
  }

  /** The machine sleeps: timers and the monotonic clock stand still meanwhile, as on many systems. */
  sleep(ms: number): void {
    const { now } = this.timeline;
    const more = Math.max(0, now + ms - Math.max(now, this.#busyUntil));
    this.pause(ms);
    this.#slept += more;
    for (const timer of this.#timers) timer.due += more;
  }

  /** Ends the process at once. No code of it runs any more. */
  kill(): void {
    this.isDead = true;
    this.stops.push({ from: this.timeline.now, to: Infinity });
    this.#timers.clear();
    this.#reads = [];
    this.#immediates = [];
  }

  /** The values that replace the globals of these names. */
  globals(): Record<string, unknown> {
    const setTimer = (run: () => void, ms = 0, every?: number) => {
      // As in Node.js: whole ms, at least 1, and 1 for more than 2^31 - 1.
      const delay = ms >= 1 && ms <= 2 ** 31 - 1 ? Math.trunc(ms) : 1;
      const timer: VirtualTimer = {
        due: this.timeline.now + delay,
        order: this.#order++,
        every: every === undefined ? undefined : delay,
        run,
        isRef: true,
        ref: () => ((timer.isRef = true), timer),
        unref: () => ((timer.isRef = false), timer),
        hasRef: () => timer.isRef,
      };
      if (this.isDead) return timer;
      this.#timers.add(timer);
      this.#wakeBy(timer.due);
      return timer;
    };
    const clear = (timer: VirtualTimer | undefined) => {
      if (timer !== undefined) this.#timers.delete(timer);
    };
    return {
      setTimeout: (run: () => void, ms?: number) => setTimer(run, ms),
      setInterval: (run: () => void, ms: number) => setTimer(run, ms, ms),
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: (run: () => void) => {
        this.#immediates.push(run);
        this.#wakeBy(this.timeline.now);
        return run;
      },
      clearImmediate: (run: () => void) => {
        this.#immediates = this.#immediates.filter((each) => each !== run);
      },
      queueMicrotask: globalThis.queueMicrotask,
      performance: { now: () => this.timeline.now - this.#slept },
      Date: dateAt(() => this.epoch),
      Math: mathWith(createRandom(this.random.below(2 ** 32)).next),
    };
  }

  #wakeBy(at: number): void {
    if (this.#isTurning || at >= this.#wakeAt) return;
    this.#wake?.cancel();
    this.#wakeAt = at;
    this.#wake = this.timeline.plan(at - this.timeline.now, () => this.#turn());
  }

  async #turn(): Promise<void> {
    this.#wakeAt = Infinity;
    if (this.isDead) return;
    if (this.#busyUntil > this.timeline.now) return this.#wakeBy(this.#busyUntil);
    this.#isTurning = true;
    const due = [...this.#timers]
      .filter((timer) => timer.due <= this.timeline.now)
      .sort((a, b) => a.due - b.due || a.order - b.order);
    for (const timer of due) await this.#runTimer(timer);
    for (const run of this.#reads.splice(0)) await this.#run(run);
    for (const run of this.#immediates.splice(0)) await this.#run(run);
    this.#isTurning = false;
    const hasWork = this.#reads.length > 0 || this.#immediates.length > 0;
    let next = hasWork ? this.timeline.now : Infinity;
    for (const { due: at } of this.#timers) next = Math.min(next, at);
    if (next !== Infinity) this.#wakeBy(Math.max(next, this.#busyUntil));
  }

  async #runTimer(timer: VirtualTimer): Promise<void> {
    // An earlier timer of this turn may have cleared this timer.
    if (!this.#timers.has(timer)) return;
    if (timer.every === undefined) this.#timers.delete(timer);
    else timer.due = this.timeline.now + timer.every;
    await this.#run(timer.run);
  }

  async #run(run: () => void): Promise<void> {
    if (this.isDead) return;
    run();
    await settle();
  }
}

function dateAt(epoch: () => number): DateConstructor {
  return class extends Date {
    constructor(...parts: [] | [number | string | Date]) {
      if (parts.length === 0) super(epoch());
      else super(parts[0]);
    }

    static override now(): number {
      return epoch();
    }
  } as DateConstructor;
}

function mathWith(random: () => number): Math {
  const math = Object.create(null) as Record<string, unknown>;
  for (const name of Object.getOwnPropertyNames(Math)) math[name] = Math[name as keyof Math];
  math["random"] = random;
  return math as unknown as Math;
}
