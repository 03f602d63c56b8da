/** The outcomes of calls, for the timeline. Each outcome is told once, however many places see it. */
import { isNever } from "../../core/config.js";
import { denialsOf, isRateLimitError, type RateLimitErrorData } from "../../core/errors.js";
import type { LimitUse, RateLimitItem } from "../types.js";
import { type Call, itemOf, type SeenDebit } from "./calls.js";
import { formatDuration, formatWait } from "./format.js";
import type { Procedures } from "./procedures.js";
import type { Timeline } from "./timeline.js";

/** A denial, and what is known of the call that got it. */
export interface SeenDenial {
  /** The limit whose key and count are known. */
  use: LimitUse;
  data: RateLimitErrorData;
  call: Call | undefined;
  /** `false` where the page has denied the call by itself. */
  isSent: boolean;
}

export class Outcomes {
  readonly #timeline: Timeline;
  readonly #procedures: Procedures;
  readonly #clock: () => number;
  /** Debits that were given back in this turn, perhaps because of a denial. */
  readonly #givenBack = new Set<SeenDebit>();
  /** How many calls hooks hold, by hook. */
  readonly #heldBy = new Map<unknown, number>();
  /** The denials in the timeline. Each denial is reported to each observer, and seen by the links, too. */
  readonly #reported = new WeakSet<RateLimitErrorData>();

  constructor(timeline: Timeline, procedures: Procedures, clock: () => number) {
    this.#timeline = timeline;
    this.#procedures = procedures;
    this.#clock = clock;
  }

  /** The links have returned, and the call has neither been sent nor answered. */
  waits(call: Call): void {
    // Other links may wait for something else, such as a token of the user.
    if (call.isSent || !call.isPredictedDenied || call.isHeld) return;
    call.isHeld = true;
    for (const { item, count } of call.limits.values()) {
      const text = "waits in the page";
      this.#timeline.add({ kind: "waiting", item, count, path: call.path, text });
    }
  }

  /** @param hook tells the hook apart from others: several hooks of a limit hold calls of their own. */
  held(item: RateLimitItem, calls: number, hook: unknown): void {
    const before = this.#heldBy.get(hook) ?? 0;
    this.#heldBy.set(hook, calls);
    if (calls === 0) this.#heldBy.delete(hook);
    if (calls <= before) return;
    const text = calls === 1 ? "a call waits in the page" : `${calls} calls wait in the page`;
    this.#timeline.add({ kind: "waiting", item: itemOf(item), text });
  }

  /** A debit was settled for which no link has seen a call. */
  settled(debit: SeenDebit, isCharged: boolean): void {
    const { item, count } = debit;
    if (isCharged) return this.#timeline.add({ kind: "granted", item, count, text: "" });
    // The denial is reported right after its debit was given back.
    this.#givenBack.add(debit);
    queueMicrotask(() => {
      this.#givenBack.delete(debit);
      if (debit.isDenied) return;
      const text = "no answer came, so the page counts the tokens as not taken";
      this.#timeline.add({ kind: "failed", item, count, text });
    });
  }

  denied({ use, data, call, isSent }: SeenDenial): void {
    const denials = denialsOf(data);
    const names = new Set(denials.map(({ name }) => name));
    for (const debit of this.#givenBack) debit.isDenied ||= names.has(debit.item.name);
    if (this.#reported.has(data)) return;
    this.#reported.add(data);
    if (call) call.isOver = true;
    for (const { name, retryAfter } of denials) {
      const known = [...(call?.limits.values() ?? [])].find(({ item }) => item.name === name);
      const item = known?.item ?? (name === use.name ? itemOf(use) : { name });
      const count = known?.count ?? (name === use.name ? use.count : undefined);
      if (call) this.#procedures.learn(name, call.path, "denial");
      const wait = isNever(retryAfter)
        ? "waiting does not help"
        : `try again ${formatWait(retryAfter)}`;
      const text = isSent ? wait : `by the page, which did not send it: ${wait}`;
      this.#timeline.add({ kind: "denied", item, count, path: call?.path, text });
    }
  }

  answered(call: Call): void {
    this.#passed(call, "");
  }

  /** @param error `undefined` for a call that was aborted. */
  failed(call: Call, error: unknown): void {
    const { isSent } = call;
    if (isRateLimitError(error)) {
      const { rateLimit } = error.data;
      return this.denied({ use: { name: rateLimit.name }, data: rateLimit, call, isSent });
    }
    // An error of tRPC's carries the server's answer as `data`.
    const { data } = Object(error) as { data?: { code?: unknown } | null };
    if (data != null) return this.#passed(call, `the call failed later (${String(data.code)})`);
    if (call.isOver) return;
    call.isOver = true;
    const text = isSent ? "no answer came, so it may have been charged" : "it was not sent";
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
      // Nothing has shown how much the call takes, or whether only failed calls take tokens.
      this.#granted(call, { name }, undefined, text);
    }
  }

  #granted(call: Call, item: RateLimitItem, count: number | undefined, text: string): void {
    const waited = call.isHeld
      ? `after ${formatDuration(this.#clock() - call.at)} in the page`
      : "";
    const said = [text, waited].filter(Boolean).join(", ");
    this.#timeline.add({ kind: "granted", item, count, path: call.path, text: said });
  }
}
