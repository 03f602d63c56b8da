/**
 * Virtual time and its events. Events run one at a time, in the order of their instants. Events at one
 * instant run in the order in which they were planned. After each event, all promises that it has settled
 * are followed to their end, so nothing is left to chance.
 */

export interface Planned {
  /** Does nothing if the event has happened. */
  cancel(): void;
}

interface Event {
  at: number;
  order: number;
  run: (() => void | Promise<void>) | undefined;
}

/** Read before a test replaces it. */
const afterMicrotasks = globalThis.setImmediate;

/** Resolves when all promises that can go on now have gone on. */
export function settle(): Promise<void> {
  return new Promise((resolve) => afterMicrotasks(resolve));
}

/** More events at one instant mean an endless loop. */
const MOST_AT_ONCE = 100_000;

export class Timeline {
  /** ms since the beginning. */
  now = 0;
  /** How many events have happened. */
  events = 0;
  readonly #heap: Event[] = [];
  #planned = 0;

  /** @param after ms from now, at least 0. */
  plan(after: number, run: () => void | Promise<void>): Planned {
    const event: Event = { at: this.now + Math.max(0, after), order: this.#planned++, run };
    push(this.#heap, event);
    return { cancel: () => (event.run = undefined) };
  }

  /** Resolves at this instant, or in the next event if the instant has passed. */
  until(at: number): Promise<void> {
    return new Promise((resolve) => this.plan(at - this.now, resolve));
  }

  /** Runs until no event is planned, or until this instant. */
  async run(until = Infinity): Promise<void> {
    let atThisInstant = 0;
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > until) break;
      pop(this.#heap);
      if (next.run === undefined) continue;
      atThisInstant = next.at === this.now ? atThisInstant + 1 : 0;
      if (atThisInstant > MOST_AT_ONCE) throw new Error("time stands still");
      this.now = next.at;
      this.events++;
      await next.run();
      await settle();
    }
    if (until !== Infinity) this.now = Math.max(this.now, until);
  }
}

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Event[], event: Event): void {
  let i = heap.push(event) - 1;
  while (i > 0) {
    const parent = (i - 1) >> 1;
    if (!isBefore(event, heap[parent]!)) break;
    heap[i] = heap[parent]!;
    i = parent;
  }
  heap[i] = event;
}

function pop(heap: Event[]): void {
  const last = heap.pop()!;
  if (heap.length === 0) return;
  let i = 0;
  for (;;) {
    let child = 2 * i + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++;
    if (!isBefore(heap[child]!, last)) break;
    heap[i] = heap[child]!;
    i = child;
  }
  heap[i] = last;
}
