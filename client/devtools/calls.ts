/**
 * Brings together what is seen of one call in different places: the client's links see its procedure
 * and its answer, and the observers see which limit it takes from, and how much.
 */
import { isNever } from "../../core/config.js";
import { denialsOf, isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import { idOf } from "../limit-entry.js";
import type { RateLimitItem } from "../types.js";
import { formatDuration, formatWait } from "./format.js";
import type { Evidence, Procedures } from "./procedures.js";
import type { Timeline } from "./timeline.js";

/** A call on its way through the client's links. */
export interface Call {
  readonly path: string;
  readonly isMutation: boolean;
  /** Epoch ms. */
  readonly at: number;
  /** The limits that it takes from, by id, as far as something has shown them. */
  readonly limits: Map<string, CallLimit>;
  /** Whether it has got to the link that sends it. */
  isSent: boolean;
  /** Whether the page was seen to predict a denial for it. */
  isPredictedDenied: boolean;
  /** Whether the timeline says that it waits. */
  isHeld: boolean;
  /** Whether the timeline says what became of it. */
  isOver: boolean;
}

interface CallLimit {
  item: RateLimitItem;
  count: number;
  /** Whether the page counts with the tokens as taken. Else an earlier denial is all that is known. */
  isDebited: boolean;
}

/** A debit of an observer. */
export interface SeenDebit {
  readonly item: RateLimitItem;
  readonly count: number;
  /** The call that it is for; `undefined` where no link has seen that call. */
  call: Call | undefined;
  isDenied: boolean;
}

export class Calls {
  readonly #timeline: Timeline;
  readonly #procedures: Procedures;
  readonly #clock: () => number;
  /** The call whose links run now. */
  #current: Call | undefined;
  /** Debits of this turn of the event loop for which no call has come yet. */
  #loose: SeenDebit[] = [];
  /** Debits that are open, and for which no link has seen a call. */
  readonly #open = new Set<SeenDebit>();
  /** Debits that were given back in this turn, perhaps because of a denial. */
  readonly #givenBack = new Set<SeenDebit>();
  /** A denial is reported to each observer, and seen by the links. */
  readonly #reported = new WeakSet<RateLimitErrorData>();

  constructor(timeline: Timeline, procedures: Procedures, clock: () => number) {
    this.#timeline = timeline;
    this.#procedures = procedures;
    this.#clock = clock;
  }

  begin(path: string, isMutation: boolean): Call {
    const call: Call = {
      path,
      isMutation,
      at: this.#clock(),
      limits: new Map(),
      isSent: false,
      isPredictedDenied: false,
      isHeld: false,
      isOver: false,
    };
    // A hook debits its limit, and then sends a mutation in the same turn.
    const [debit] = this.#loose;
    if (debit && isMutation && this.#loose.every((other) => isAlike(other, debit))) {
      this.#loose.shift();
      this.#adopt(call, debit, "hook");
    }
    return call;
  }

  /** Runs links of a call. What observers are asked meanwhile is asked for this call. */
  within(call: Call, run: () => void): void {
    const before = this.#current;
    this.#current = call;
    try {
      run();
    } finally {
      this.#current = before;
    }
  }

  /** The call has got through all links but the last one. */
  sent(call: Call): void {
    if (call.isSent) return;
    call.isSent = true;
    // The debit of a call that was held is made when it is sent.
    const own = this.#loose.filter(({ item }) => call.limits.has(idOf(item)));
    this.#loose = this.#loose.filter((debit) => !own.includes(debit));
    for (const debit of own) this.#adopt(call, debit, "link");
  }

  /** The links have returned, and the call has neither been sent nor answered. */
  waits(call: Call): void {
    // Other links may wait for something else, such as a token of the user.
    if (call.isSent || !call.isPredictedDenied || call.isHeld) return;
    call.isHeld = true;
    for (const { item, count } of call.limits.values()) {
      this.#timeline.add({ kind: "held", item, count, path: call.path, text: "waits in the page" });
    }
  }

  /** An observer was asked whether a call would be denied. */
  asked(item: RateLimitItem, count: number, isDenied: boolean): void {
    const call = this.#unsent();
    if (!call || count === 0) return;
    const id = idOf(item);
    if (!call.limits.has(id)) call.limits.set(id, { item: itemOf(item), count, isDebited: false });
    if (isDenied) call.isPredictedDenied = true;
  }

  debited(item: RateLimitItem, count: number): SeenDebit {
    const debit: SeenDebit = { item: itemOf(item), count, call: undefined, isDenied: false };
    const call = this.#unsent();
    if (call) this.#adopt(call, debit, "link");
    else {
      if (this.#loose.length === 0) setTimeout(() => (this.#loose = []));
      this.#loose.push(debit);
      this.#open.add(debit);
    }
    return debit;
  }

  /** A link has found a debit that a hook has made for its call. */
  claimed(item: RateLimitItem): void {
    const call = this.#unsent();
    if (!call || call.limits.get(idOf(item))?.isDebited) return;
    const debit = [...this.#open].find((one) => idOf(one.item) === idOf(item));
    if (debit) this.#adopt(call, debit, "link");
  }

  /** The debit was settled, for a call that may not be one of this client. */
  settled(debit: SeenDebit, isCharged: boolean): void {
    const { item, count, call } = debit;
    this.#open.delete(debit);
    if (call) return;
    if (isCharged) return this.#timeline.add({ kind: "granted", item, count, text: "" });
    // The denial is reported right after its debit was given back.
    this.#givenBack.add(debit);
    queueMicrotask(() => {
      this.#givenBack.delete(debit);
      if (debit.isDenied) return;
      this.#timeline.add({
        kind: "failed",
        item,
        count,
        text: "no answer, so the page gave it back",
      });
    });
  }

  /** A denial was reported, with the limit whose key and count are known. */
  denied(use: RateLimitItem & { count?: number | undefined }, data: RateLimitErrorData): void {
    const names = new Set(denialsOf(data).map(({ name }) => name));
    for (const debit of this.#givenBack) debit.isDenied ||= names.has(debit.item.name);
    if (this.#reported.has(data)) return;
    this.#reported.add(data);
    const call = this.#current;
    if (call) call.isOver = true;
    for (const { name, retryAfter } of denialsOf(data)) {
      const known = [...(call?.limits.values() ?? [])].find(({ item }) => item.name === name);
      const item = known?.item ?? (name === use.name ? itemOf(use) : { name });
      const count = known?.count ?? (name === use.name ? use.count : undefined);
      if (call) this.#procedures.learn(name, call.path, "denial");
      const wait = isNever(retryAfter) ? "no wait helps" : `ok ${formatWait(retryAfter)}`;
      const text = call && !call.isSent ? `by the page, not sent, ${wait}` : wait;
      this.#timeline.add({ kind: "denied", item, count, path: call?.path, text });
    }
  }

  answered(call: Call): void {
    this.#passed(call, "");
  }

  /** @param error `undefined` for a call that was aborted. */
  failed(call: Call, error: unknown): void {
    if (isRateLimitError(error)) {
      const { rateLimit } = error.data;
      return this.within(call, () => this.denied({ name: rateLimit.name }, rateLimit));
    }
    // An error of tRPC's carries the server's answer as `data`.
    const { data } = Object(error) as { data?: { code?: unknown } | null };
    if (data != null) return this.#passed(call, `then failed: ${String(data.code)}`);
    if (call.isOver) return;
    call.isOver = true;
    const text = call.isSent ? "no answer, so charged or not" : "not sent";
    for (const { item, count } of call.limits.values()) {
      this.#timeline.add({ kind: "failed", item, count, path: call.path, text });
    }
  }

  /** The limits have let the call pass. */
  #passed(call: Call, text: string): void {
    if (call.isOver) return;
    call.isOver = true;
    const debited = [...call.limits.values()].filter(({ isDebited }) => isDebited);
    for (const { item, count } of debited) this.#granted(call, item, count, text);
    for (const name of this.#procedures.denying(call.path)) {
      if (debited.some(({ item }) => item.name === name)) continue;
      // Nothing has shown how much it takes, or whether it takes from failures only.
      this.#granted(call, { name }, undefined, text);
    }
  }

  #granted(call: Call, item: RateLimitItem, count: number | undefined, text: string): void {
    const waited = call.isHeld ? `after ${formatDuration(this.#clock() - call.at)}` : "";
    const said = [text, waited].filter(Boolean).join(", ");
    this.#timeline.add({ kind: "granted", item, count, path: call.path, text: said });
  }

  /** The call that has not been sent yet. Later questions to an observer are about something else. */
  #unsent(): Call | undefined {
    return this.#current?.isSent ? undefined : this.#current;
  }

  #adopt(call: Call, debit: SeenDebit, evidence: Evidence): void {
    const { item, count } = debit;
    debit.call = call;
    this.#open.delete(debit);
    call.limits.set(idOf(item), { item, count, isDebited: true });
    this.#procedures.learn(item.name, call.path, evidence);
  }
}

function isAlike(a: SeenDebit, b: SeenDebit): boolean {
  return idOf(a.item) === idOf(b.item);
}

function itemOf({ name, key }: RateLimitItem): RateLimitItem {
  return key === undefined ? { name } : { name, key };
}
