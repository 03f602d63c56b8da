/** The text that the panel shows for an observer. Equal states give equal views. */
import { capacityOf } from "../../core/config.js";
import { idOf } from "../limit-entry.js";
import type { InspectedLimit, ObserverInspection, RateLimitObserver } from "../types.js";
import {
  formatAge,
  formatConfig,
  formatCount,
  formatDuration,
  formatTokens,
  formatWait,
} from "./format.js";

/** A term and what is to be said about it. */
export type Fact = readonly [term: string, text: string];

export interface LimitView {
  id: string;
  name: string;
  key: string | undefined;
  /** One for each count that the page follows. */
  statuses: { count: number; state: "ok" | "denied" | "unknown"; text: string }[];
  /** The part of the capacity that is left, 0 to 1. */
  fill: number;
  facts: Fact[];
  error: string | undefined;
}

export interface ObserverView {
  id: number;
  facts: Fact[];
  limits: LimitView[];
}

/** Observers have no names, so they get numbers. */
const ids = new WeakMap<RateLimitObserver, number>();
let lastId = 0;

function idOfObserver(observer: RateLimitObserver): number {
  const id = ids.get(observer) ?? ++lastId;
  ids.set(observer, id);
  return id;
}

export function viewOf(observer: RateLimitObserver): ObserverView {
  const inspection = observer.inspect();
  const { streamed, answered, lastRoundTrip, limits } = inspection;
  return {
    id: idOfObserver(observer),
    facts: [
      ["Connection", observer.connection],
      ["Server's clock", clockText(inspection)],
      [
        "Last round trip",
        Number.isNaN(lastRoundTrip) ? "no answer yet" : formatDuration(lastRoundTrip),
      ],
      ["Snapshots", `${streamed} by stream, ${answered} by question`],
    ],
    limits: limits
      .map((limit) => limitView(observer, inspection, limit))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function clockText({ offset, uncertainty }: ObserverInspection): string {
  if (Number.isNaN(offset)) return "unknown";
  const difference =
    offset === 0
      ? "equal"
      : `${formatDuration(Math.abs(offset))} ${offset > 0 ? "ahead" : "behind"}`;
  // A message of the stream says how far the server's clock is at least.
  if (uncertainty === Infinity) return `${difference}, or further on`;
  return `${difference}, ± ${formatDuration(uncertainty)}`;
}

function limitView(
  observer: RateLimitObserver,
  { now, offset }: ObserverInspection,
  { item, snapshot, debits, counts }: InspectedLimit,
): LimitView {
  const config = observer.config(item);
  const held = observer.check(item, now, 0)?.value;
  const capacity = config ? capacityOf(config) : 0;
  const facts: Fact[] = [];
  if (config && held !== undefined) {
    facts.push(["Value", `${formatTokens(held)} of ${capacity}`], ["Config", formatConfig(config)]);
  }
  if (snapshot) {
    const row = `${formatTokens(snapshot.value)} tokens, written ${formatAge(now + offset - snapshot.ts)}`;
    facts.push(
      ["Server's row", row],
      ["Read", Number.isNaN(offset) ? "from a cache" : formatAge(now + offset - snapshot.now)],
    );
  }
  facts.push(["In flight", formatCount(debits, "debit")]);
  return {
    id: idOf(item),
    name: item.name,
    key: item.key,
    statuses: [...new Set(counts)]
      .sort((a, b) => a - b)
      .map((count) => ({ count, ...statusView(observer, item, now, count) })),
    fill: held === undefined || capacity === 0 ? 0 : Math.min(1, Math.max(0, held / capacity)),
    facts,
    error: observer.error(item)?.message,
  };
}

function statusView(
  observer: RateLimitObserver,
  item: InspectedLimit["item"],
  now: number,
  count: number,
): { state: "ok" | "denied" | "unknown"; text: string } {
  const checked = observer.check(item, now, count);
  if (!checked) return { state: "unknown", text: "unknown" };
  if (checked.retryAt === undefined) return { state: "ok", text: "ok" };
  return { state: "denied", text: `denied, ok ${formatWait(checked.retryAt - now)}` };
}
