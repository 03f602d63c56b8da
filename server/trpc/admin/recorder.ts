/**
 * The latest decisions of this process, for operators: the newest denials, how much was granted and denied
 * in each minute of a day, and which keys had the most, see `key-history.ts`. The number of limits that the
 * limiter names bounds the memory; the number of keys and calls does not matter.
 */
import { MINUTE } from "../../../core/durations.js";
import type { Usage } from "../../../core/usage.js";
import type { DecisionEvent } from "../../limiter/types/limiter-options.js";
import { usageOfEvent } from "../../limiter/usage/usage-of-event.js";
import { KEPT_HISTORY, KeyHistory, type TopCounts } from "./key-history.js";

/** The denials that are kept of each limit: as many as one answer can have. */
export const KEPT_DENIALS = 200;
/** The minutes that are kept: one day. */
export const KEPT_MINUTES = 1440;

/** A denial, with the key as the caller gave it. */
export interface Denial {
  readonly at: number;
  readonly name: string;
  readonly key: string | undefined;
  readonly count: number;
  readonly retryAfter: number;
  /** Counts the denials of all limits, so that denials within one ms have an order, too. */
  readonly number: number;
}

/** The decisions that are kept of one limit. */
class KeptDecisions {
  /** The place of the next denial. In a full ring, the oldest denial has this place. */
  #next = 0;
  readonly #ring: Denial[] = [];
  /** The usage by the start of its minute, the oldest first. */
  readonly #minutes = new Map<number, Usage>();
  readonly history = new KeyHistory();

  denied(denial: Denial): void {
    this.#ring[this.#next] = denial;
    this.#next = (this.#next + 1) % KEPT_DENIALS;
  }

  used(at: number, usage: Partial<Usage>): void {
    const minute = Math.floor(at / MINUTE) * MINUTE;
    let counts = this.#minutes.get(minute);
    if (counts === undefined) {
      this.#minutes.set(minute, (counts = { granted: 0, denied: 0, taken: 0, givenBack: 0 }));
      if (this.#minutes.size > KEPT_MINUTES)
        this.#minutes.delete(this.#minutes.keys().next().value!);
    }
    counts.granted += usage.granted ?? 0;
    counts.denied += usage.denied ?? 0;
    counts.taken += usage.taken ?? 0;
  }

  get denials(): readonly Denial[] {
    return this.#ring;
  }

  /** The oldest denial that is kept, if older denials may have been dropped. */
  get oldest(): Denial | undefined {
    return this.#ring.length < KEPT_DENIALS ? undefined : this.#ring[this.#next];
  }

  minute(start: number): Usage | undefined {
    return this.#minutes.get(start);
  }
}

export class DecisionRecorder {
  /** When the recorder began to listen, epoch ms. */
  readonly since: number;
  /** Called with each decision that is recorded. */
  heard: (() => void) | undefined;
  readonly #byName: ReadonlyMap<string, KeptDecisions>;
  #number = 0;

  constructor(
    names: readonly string[],
    private readonly clock: () => number,
  ) {
    this.since = clock();
    this.#byName = new Map(names.map((name) => [name, new KeptDecisions()]));
  }

  record({ action, name, key, count, result }: DecisionEvent): void {
    // Calls with a config can have any number of names: these names are not kept.
    const kept = this.#byName.get(name);
    const usage = usageOfEvent(action, count, result);
    if (kept === undefined || usage === undefined) return;
    const at = this.clock();
    kept.used(at, usage);
    kept.history.add(at, key ?? "", usage);
    this.heard?.();
    if (result.ok) return;
    const { retryAfter } = result;
    kept.denied({ at, name, key, count, retryAfter, number: this.#number++ });
  }

  /** The newest denials first, of one limit or of several, and from when on the list is complete. */
  denials(names: readonly string[], count: number): { since: number; items: Denial[] } {
    const ofNames = names.flatMap((name) => this.#byName.get(name) ?? []);
    const all = ofNames.flatMap(({ denials }) => denials);
    all.sort((a, b) => b.number - a.number);
    const since = Math.max(this.since, ...ofNames.map(({ oldest }) => oldest?.at ?? 0));
    return { since, items: all.slice(0, count) };
  }

  /**
   * The usage of a minute, by the start of the minute. `givenBack` is 0, because listeners are not told
   * of tokens that are given back.
   */
  minute(name: string, start: number): Usage | undefined {
    return this.#byName.get(name)?.minute(start);
  }

  /** The keys with the most, as their callers gave them; `undefined` for a name that is not recorded. */
  top(name: string, from: number, to: number): TopCounts | undefined {
    return this.#byName.get(name)?.history.top(from, to);
  }

  /** From when on the keys with the most are complete, epoch ms. */
  get keysSince(): number {
    return Math.max(this.since, this.clock() - KEPT_HISTORY);
  }

  /** From when on the minutes are complete, epoch ms. */
  get minutesSince(): number {
    const first = (Math.floor(this.clock() / MINUTE) - KEPT_MINUTES + 1) * MINUTE;
    return Math.max(this.since, first);
  }
}

const recorders = new WeakMap<object, DecisionRecorder>();

/**
 * The recorder of a limiter, which all its routers share. The recorder listens from the first call of
 * this function on.
 *
 * @param decisions the same object for all routers of a limiter.
 */
export function recorderOf(
  decisions: { listen(listener: (event: DecisionEvent) => void): unknown },
  names: readonly string[],
  clock: () => number,
): DecisionRecorder {
  let recorder = recorders.get(decisions);
  if (recorder === undefined) {
    const made = new DecisionRecorder(names, clock);
    recorders.set(decisions, (recorder = made));
    decisions.listen((event) => made.record(event));
  }
  return recorder;
}
