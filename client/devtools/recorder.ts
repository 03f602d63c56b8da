/**
 * Everything that the devtools know of a page since the plugin was made: a timeline, the last minute of
 * each limit, the procedures, and the actions of the panel. There is one recorder for each client.
 */
import type { TRPCUntypedClient } from "@trpc/client";
import type { AnyTRPCRouter } from "@trpc/server";
import { idOf } from "../limit-entry.js";
import type { InspectedLimit, RateLimitItem, RateLimitObserver } from "../types.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { Calls } from "./calls.js";
import { correctionOf, holdsOf } from "./corrections.js";
import { History } from "./history.js";
import { Outcomes } from "./outcomes.js";
import { DENIED_FOR, pretend, type Pretence } from "./pretend.js";
import { Procedures } from "./procedures.js";
import { recordCalls } from "./record-calls.js";
import { recordObserver } from "./record-observer.js";
import { notifyAll, recordSnapshots } from "./record-snapshots.js";
import { Switch } from "./switch.js";
import { Timeline } from "./timeline.js";

/** A pretence that a page got in place of the server's snapshot. */
interface Told {
  pretence: Pretence;
  /** The snapshot of the pretence, as the observer keeps it. With another snapshot, the pretence is over. */
  snapshot: RateLimitSnapshot | undefined;
}

export class Recorder {
  readonly timeline: Timeline;
  readonly procedures = new Procedures();
  /** The lines of the panel whose details are open, by the id of the line. Kept while it is closed. */
  readonly opened = new Set<string>();
  /** Present where calls can be kept from the server. */
  readonly network: Switch | undefined;
  readonly #histories = new WeakMap<RateLimitObserver, History>();
  readonly #told = new WeakMap<RateLimitObserver, Map<string, Told>>();
  #isPretending = false;

  /** @param observers the observers of the client. More of them come and go. */
  constructor(
    readonly observers: Set<RateLimitObserver>,
    client: TRPCUntypedClient<AnyTRPCRouter> | undefined,
    clock: () => number = () => Date.now(),
  ) {
    this.timeline = new Timeline(clock);
    const calls = new Calls(this.procedures, clock);
    const outcomes = new Outcomes(this.timeline, this.procedures, clock);
    const network = new Switch();
    if (client && recordCalls(client, calls, outcomes, network)) this.network = network;
    const record = (observer: RateLimitObserver) =>
      recordObserver(observer, calls, outcomes, () => network.isOffline());
    for (const observer of observers) record(observer);
    const add = observers.add.bind(observers);
    observers.add = (observer) => {
      record(observer);
      return add(observer);
    };
    recordSnapshots({
      onSnapshot: (item, before, after) => {
        if (this.#isPretending || !this.#follows(item)) return;
        const text = correctionOf(before, after);
        if (text !== undefined) this.timeline.add({ kind: "corrected", item, text });
        const held = holdsOf(before, after);
        if (held !== undefined) this.timeline.add({ kind: "held", item, text: held });
      },
      isDeaf: (item) => network.isOffline() && !this.#isPretending && this.#follows(item),
    });
  }

  /** Looks at every limit once. */
  sample(): void {
    for (const observer of this.observers) {
      const { now, limits } = observer.inspect();
      for (const limit of limits) {
        const isPretended = this.pretenceOf(observer, limit) !== undefined;
        this.historyOf(observer).sample(observer, limit, now, isPretended);
      }
    }
  }

  historyOf(observer: RateLimitObserver): History {
    let history = this.#histories.get(observer);
    if (!history) this.#histories.set(observer, (history = new History()));
    return history;
  }

  /** The pretence that the page has for this limit in place of the server's snapshot. */
  pretenceOf(
    observer: RateLimitObserver,
    { item, snapshot }: InspectedLimit,
  ): Pretence | undefined {
    const told = this.#told.get(observer)?.get(idOf(item));
    return told && told.snapshot === snapshot ? told.pretence : undefined;
  }

  /** Gives a pretence to one observer of this page. */
  pretend(observer: RateLimitObserver, id: string, pretence: Pretence): void {
    const limitNow = () => observer.inspect().limits.find(({ item }) => idOf(item) === id);
    const limit = limitNow();
    const { now, offset } = observer.inspect();
    if (!limit?.snapshot || Number.isNaN(offset)) return;
    const { item, counts } = limit;
    this.#isPretending = true;
    try {
      observer.receive(pretend(pretence, limit.snapshot, now + offset, counts));
    } finally {
      this.#isPretending = false;
    }
    const told = this.#told.get(observer) ?? new Map<string, Told>();
    this.#told.set(observer, told);
    const snapshot = limitNow()?.snapshot;
    told.set(id, { pretence, snapshot });
    this.timeline.add({ kind: "pretended", item, text: `${pretence}, in this page only` });
    if (pretence !== "denied for 10 s") return;
    setTimeout(() => {
      if (limitNow()?.snapshot === snapshot) observer.refresh(item);
    }, DENIED_FOR);
  }

  /** Asks the server for one limit, or for all of them. */
  ask(observer: RateLimitObserver, id?: string): void {
    const limit = observer.inspect().limits.find(({ item }) => idOf(item) === id);
    observer.refresh(limit?.item);
  }

  /** All that is known, as text: the observers as they are, and what was seen. */
  asText(): string {
    const observers = Array.from(this.observers, (observer) => {
      const inspection = observer.inspect();
      const limits = inspection.limits.map((limit) => ({
        ...limit,
        predicted: observer.check(limit.item, inspection.now, 0)?.value,
        error: observer.error(limit.item)?.message,
        pretence: this.pretenceOf(observer, limit),
        procedures: this.procedures.of(limit.item.name),
      }));
      return { ...inspection, connection: observer.connection, limits };
    });
    const known = { observers, timeline: this.timeline.events };
    // JSON has neither `NaN` nor `Infinity`, and `null` would hide which of the two it was.
    return JSON.stringify(
      known,
      (_name, value: unknown) =>
        typeof value === "number" && !Number.isFinite(value) ? String(value) : value,
      2,
    );
  }

  /** Also cuts off streams that are older than the plugin, or that another tab holds. */
  setOffline(isOffline: boolean): void {
    if (!this.network) return;
    this.network.set(isOffline);
    for (const observer of this.observers) {
      notifyAll(observer);
      if (!isOffline) observer.refresh();
    }
  }

  /** Whether the item, as an object, belongs to an observer of this page. */
  #follows(item: RateLimitItem): boolean {
    return [...this.observers].some((observer) =>
      observer.inspect().limits.some((limit) => limit.item === item),
    );
  }
}
