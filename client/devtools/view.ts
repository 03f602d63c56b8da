/** The text that the panel shows for an observer. Equal states give equal views. */
import { idOf } from "../limit-entry.js";
import type {
  CheckedRateLimit,
  ConnectionState,
  InspectedLimit,
  ObserverInspection,
  RateLimitObserver,
} from "../types.js";
import { boundOf, unitOf } from "./describe-config.js";
import { describeLeft, describeStatus, type StatusText } from "./describe-state.js";
import { formatCount, formatDuration } from "./format.js";
import type { Lines } from "./history.js";
import { chargedBy, type Fact, rowFacts, stateFacts } from "./limit-facts.js";
import { type Pretence, pretencesFor } from "./pretend.js";
import type { Recorder } from "./recorder.js";
import { type Summary, summaryOf } from "./summary.js";

export interface LimitView {
  /** Tells the limit apart from all others of the page, also from those of other observers. */
  rowId: string;
  id: string;
  name: string;
  key: string | undefined;
  /** The unit that the limit counts, in the singular. */
  unit: "credit" | "slot" | "token";
  /** What is left, in few words; `undefined` while nothing is known. */
  left: string | undefined;
  /** The most that the limit holds; `undefined` where it has no bound. */
  bound: number | undefined;
  /** The part of the capacity that is left, 0 to 1; `undefined` where there is no capacity to show. */
  fill: number | undefined;
  /** What calls would get, in few words. */
  summary: Summary;
  /** The pretence that the page has in place of the server's snapshot. */
  pretence: Pretence | undefined;
  /** The procedures that charge it, as far as calls have shown them. */
  procedures: string[];
  /** Present while the limit is open. */
  details: LimitDetails | undefined;
}

export interface LimitDetails {
  /** One status for each count that the page follows. */
  statuses: (StatusText & { count: number })[];
  /** The last minute; `undefined` while there is nothing to draw. */
  lines: Lines | undefined;
  facts: Fact[];
  error: string | undefined;
  /** The pretences that would show something; none without a snapshot and the server's time. */
  pretences: Pretence[];
}

export interface ObserverView {
  id: number;
  observer: RateLimitObserver;
  connection: ConnectionState;
  /** The line of the connection, and whether its facts are open. */
  rowId: string;
  isOpen: boolean;
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

/**
 * @param recorder what the plugin has seen of the page; without it, only the present state is shown, and
 *   all limits have their details.
 */
export function viewOf(observer: RateLimitObserver, recorder?: Recorder): ObserverView {
  const inspection = observer.inspect();
  const { streamed, answered, lastRoundTrip, limits } = inspection;
  const times = (count: number) => (count === 1 ? "once" : `${count} times`);
  const id = idOfObserver(observer);
  return {
    id,
    observer,
    connection: observer.connection,
    rowId: String(id),
    isOpen: recorder?.opened.has(String(id)) ?? true,
    facts: [
      ["Server's clock", clockText(inspection)],
      [
        "Last answer",
        Number.isNaN(lastRoundTrip) ? "none yet" : `took ${formatDuration(lastRoundTrip)}`,
      ],
      ["Server told", `${times(streamed)} by the stream, ${times(answered)} when asked`],
    ],
    limits: limits
      .map((limit) => limitView(observer, inspection, limit, `${id} ${idOf(limit.item)}`, recorder))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function clockText({ offset, uncertainty }: ObserverInspection): string {
  if (Number.isNaN(offset)) return "unknown";
  const size = formatDuration(Math.abs(offset));
  // A message of the stream tells only a lower bound of the server's clock.
  if (uncertainty === Infinity) {
    if (offset === 0) return "like this one, or ahead";
    return offset > 0 ? `at least ${size} ahead` : `at most ${size} behind`;
  }
  const difference = offset === 0 ? "like this one" : `${size} ${offset > 0 ? "ahead" : "behind"}`;
  return `${difference}, give or take ${formatDuration(uncertainty)}`;
}

function limitView(
  observer: RateLimitObserver,
  inspection: ObserverInspection,
  limit: InspectedLimit,
  rowId: string,
  recorder: Recorder | undefined,
): LimitView {
  const { now, offset, uncertainty } = inspection;
  const { item, snapshot, counts } = limit;
  const checked = observer.check(item, now, 0);
  // Until the server has told the time, a cached snapshot brings an offset of its own.
  const time = {
    now,
    offset: checked ? checked.now - now : NaN,
    isAtLeast: !Number.isNaN(offset) && uncertainty === Infinity,
  };
  const statuses = [...new Set(counts)]
    .sort((a, b) => a - b)
    .map((count) => ({
      count,
      ...describeStatus(observer.check(item, now, count), snapshot, count, time),
    }));
  const error = observer.error(item)?.message;
  const unit = checked ? unitOf(checked.config) : "token";
  const pretence = recorder?.pretenceOf(observer, limit);
  const procedures = recorder?.procedures.of(item.name) ?? [];
  const isOpen = recorder?.opened.has(rowId) ?? true;
  return {
    rowId,
    id: idOf(item),
    name: item.name,
    key: item.key,
    unit,
    left: checked && describeLeft(checked),
    bound: checked && boundOf(checked.config),
    fill: checked ? fillOf(checked) : undefined,
    summary: summaryOf(statuses, unit, error !== undefined),
    pretence,
    procedures: procedures.map(({ path }) => path),
    details: isOpen
      ? {
          statuses,
          lines: recorder?.historyOf(observer).lines(limit, now),
          facts: [
            ...(checked && snapshot ? stateFacts(checked, snapshot, time) : []),
            // A pretence says nothing about the server's row.
            ...(snapshot && !pretence ? rowFacts(snapshot, offset, time) : []),
            ["Unanswered", limit.debits === 0 ? "no call" : formatCount(limit.debits, "call")],
            ...(recorder?.network ? [["Charged by", chargedBy(procedures)] as const] : []),
          ],
          error,
          pretences: snapshot && !Number.isNaN(offset) ? pretencesFor(snapshot.config) : [],
        }
      : undefined,
  };
}

/** The part of the bar, 0 to 1; `undefined` where the limit has no bound, so that there is no bar. */
function fillOf({ value, config }: CheckedRateLimit): number | undefined {
  const bound = boundOf(config);
  if (bound === undefined) return undefined;
  return bound === 0 ? 0 : Math.min(1, Math.max(0, value / bound));
}
