/**
 * Brings together what is seen of one call in different places: the client's links see its procedure, and
 * the observers see which limit the call takes from, and how much.
 */
import { idOf } from "../limit-entry.js";
import type { RateLimitItem } from "../types.js";
import type { Evidence, Procedures } from "./procedures.js";

/** A call on its way through the client's links. */
export interface Call {
  readonly path: string;
  /** Epoch ms. */
  readonly at: number;
  /** The limits that the call takes from, by id, as far as something has shown them. */
  readonly limits: Map<string, CallLimit>;
  /** Whether the call has got to the link that sends it. */
  isSent: boolean;
  /** Whether the page was seen to predict a denial for the call. */
  isPredictedDenied: boolean;
  /** Whether the timeline says that the call waits. */
  isHeld: boolean;
  /** Whether the timeline tells the outcome of the call. */
  isOver: boolean;
}

interface CallLimit {
  item: RateLimitItem;
  count: number;
  /** Whether the page counts the tokens as taken. If not, an earlier denial is all that is known. */
  isDebited: boolean;
}

/** A debit of an observer. */
export interface SeenDebit {
  readonly item: RateLimitItem;
  readonly count: number;
  /** The call that the debit is for; `undefined` where no link has seen that call. */
  call: Call | undefined;
  isDenied: boolean;
}

export class Calls {
  readonly #procedures: Procedures;
  readonly #clock: () => number;
  /** The call whose links run now. */
  #current: Call | undefined;
  /** Debits of this turn of the event loop for which no call has come yet. */
  #loose: SeenDebit[] = [];
  /** Debits that are open, and for which no link has seen a call. */
  readonly #open = new Set<SeenDebit>();

  constructor(procedures: Procedures, clock: () => number) {
    this.#procedures = procedures;
    this.#clock = clock;
  }

  /** The call whose links run now. */
  get current(): Call | undefined {
    return this.#current;
  }

  begin(path: string, isMutation: boolean): Call {
    const call: Call = {
      path,
      at: this.#clock(),
      limits: new Map(),
      isSent: false,
      isPredictedDenied: false,
      isHeld: false,
      isOver: false,
    };
    const debit = isMutation ? this.#debitFor(path) : undefined;
    if (debit) this.#adopt(call, debit, "hook");
    return call;
  }

  /** Runs links of a call. All questions to observers meanwhile are for this call. */
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
    if (!call.isHeld) return;
    // The debits of a call that was held are made when it is sent.
    const own = this.#loose.filter(({ item }) => call.limits.has(idOf(item)));
    for (const debit of own) this.#adopt(call, debit, "link");
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

  settled(debit: SeenDebit): void {
    this.#open.delete(debit);
  }

  /** A link has found a debit that a hook has made for its call. */
  claimed(item: RateLimitItem): void {
    const call = this.#unsent();
    if (!call) return;
    this.#procedures.learn(item.name, call.path, "link");
    if (call.limits.get(idOf(item))?.isDebited) return;
    const debit = [...this.#open].find((one) => idOf(one.item) === idOf(item));
    if (debit) this.#adopt(call, debit, "link");
  }

  /** The current call until it is sent. After that, questions to an observer are about something else. */
  #unsent(): Call | undefined {
    return this.#current?.isSent ? undefined : this.#current;
  }

  /** The debit that a hook has made before it sends a mutation. */
  #debitFor(path: string): SeenDebit | undefined {
    const limits = this.#procedures.limitsOf(path);
    const known = [...this.#open].find(({ item }) => limits.includes(item.name));
    if (known) return known;
    // A hook debits and sends in the same turn. With debits of several limits, no debit is surely its own.
    const [first, ...others] = this.#loose;
    if (!first || others.some(({ item }) => idOf(item) !== idOf(first.item))) return undefined;
    return first;
  }

  #adopt(call: Call, debit: SeenDebit, evidence: Evidence): void {
    const { item, count } = debit;
    debit.call = call;
    this.#open.delete(debit);
    this.#loose = this.#loose.filter((other) => other !== debit);
    call.limits.set(idOf(item), { item, count, isDebited: true });
    this.#procedures.learn(item.name, call.path, evidence);
  }
}

/** The limit and its key alone. */
export function itemOf({ name, key }: RateLimitItem): RateLimitItem {
  return key === undefined ? { name } : { name, key };
}
