/** The events of the limits of a page, in order, as far as the devtools have seen them. */
import { idOf } from "../limit-entry.js";
import type { RateLimitItem } from "../types.js";

/**
 * - `granted` and `denied`: the answer to a call, of the server or of the page itself.
 * - `waiting`: the page keeps a call until its limit has room.
 * - `held`: calls hold tokens on the server.
 * - `corrected`: the server told something else than the page had predicted.
 * - `failed`: a call without an answer, so that it may have been charged or not.
 * - `pretended`: an action of the panel, in this page only.
 */
export type EventKind =
  "granted" | "denied" | "waiting" | "held" | "corrected" | "failed" | "pretended";

export interface TimelineEvent {
  id: number;
  /** Epoch ms on this machine's clock; of repeated events, the instant of the last. */
  at: number;
  kind: EventKind;
  item: RateLimitItem;
  /** Tokens of the call; `undefined` where nothing has shown them. */
  count: number | undefined;
  /** The procedure; `undefined` where it is unknown. */
  path: string | undefined;
  text: string;
  /** How often the same has happened in a row. */
  times: number;
}

export type NewEvent = Pick<TimelineEvent, "kind" | "item" | "text"> &
  Partial<Pick<TimelineEvent, "count" | "path">>;

/** The most events that are kept: a page may send a call a second for hours. */
const MOST_EVENTS = 300;

export class Timeline {
  /** The latest event first. */
  readonly events: TimelineEvent[] = [];
  #lastId = 0;
  readonly #clock: () => number;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  add({ kind, item, text, count, path }: NewEvent): void {
    const [last] = this.events;
    const next = { kind, item, count, path, text };
    if (last && sameEvent(last, next)) {
      this.events[0] = { ...last, at: this.#clock(), times: last.times + 1 };
      return;
    }
    this.events.unshift({ ...next, id: ++this.#lastId, at: this.#clock(), times: 1 });
    this.events.length = Math.min(this.events.length, MOST_EVENTS);
  }

  clear(): void {
    this.events.length = 0;
  }
}

type Repeated = Omit<TimelineEvent, "id" | "at" | "times">;

function sameEvent(a: Repeated, b: Repeated): boolean {
  return (
    a.kind === b.kind &&
    a.text === b.text &&
    a.count === b.count &&
    a.path === b.path &&
    idOf(a.item) === idOf(b.item)
  );
}
