/** The text that the panel shows for an observer. Equal states give equal views. */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { idOf } from "../limit-entry.js";
import type {
  CheckedRateLimit,
  InspectedLimit,
  ObserverInspection,
  RateLimitObserver,
} from "../types.js";
import { boundOf, describeConfig, unitOf } from "./describe-config.js";
import {
  describeRow,
  describeStatus,
  describeValue,
  describeWindow,
  type KnownTime,
  type StatusText,
} from "./describe-state.js";
import { formatAge, formatCount, formatDuration, formatTokens } from "./format.js";
import type { Lines } from "./history.js";
import { type Pretence, pretencesFor } from "./pretend.js";
import type { Recorder } from "./recorder.js";

/** A term and its text. */
export type Fact = readonly [term: string, text: string];

export interface LimitView {
  id: string;
  name: string;
  key: string | undefined;
  /** One status for each count that the page follows. */
  statuses: (StatusText & { count: number })[];
  /** The part of the capacity that is left, 0 to 1; `undefined` where there is no capacity to show. */
  fill: number | undefined;
  /** The last minute; `undefined` while there is nothing to draw. */
  lines: Lines | undefined;
  facts: Fact[];
  error: string | undefined;
  /** The pretence that the page has in place of the server's snapshot. */
  pretence: Pretence | undefined;
  /** The pretences that would show something; none without a snapshot and the server's time. */
  pretences: Pretence[];
}

export interface ObserverView {
  id: number;
  observer: RateLimitObserver;
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

/** @param recorder what the plugin has seen of the page; without it, only the present state is shown. */
export function viewOf(observer: RateLimitObserver, recorder?: Recorder): ObserverView {
  const inspection = observer.inspect();
  const { streamed, answered, lastRoundTrip, limits } = inspection;
  return {
    id: idOfObserver(observer),
    observer,
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
      .map((limit) => limitView(observer, inspection, limit, recorder))
      .sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}

function clockText({ offset, uncertainty }: ObserverInspection): string {
  if (Number.isNaN(offset)) return "unknown";
  const size = formatDuration(Math.abs(offset));
  // A message of the stream tells only a lower bound of the server's clock.
  if (uncertainty === Infinity) {
    if (offset === 0) return "equal, or further on";
    return offset > 0 ? `at least ${size} ahead` : `at most ${size} behind`;
  }
  const difference = offset === 0 ? "equal" : `${size} ${offset > 0 ? "ahead" : "behind"}`;
  return `${difference}, ± ${formatDuration(uncertainty)}`;
}

function limitView(
  observer: RateLimitObserver,
  { now, offset, uncertainty }: ObserverInspection,
  limit: InspectedLimit,
  recorder: Recorder | undefined,
): LimitView {
  const { item, snapshot, debits, counts } = limit;
  const checked = observer.check(item, now, 0);
  // Until the server has told the time, a cached snapshot brings an offset of its own.
  const time = {
    now,
    offset: checked ? checked.now - now : NaN,
    isAtLeast: !Number.isNaN(offset) && uncertainty === Infinity,
  };
  const statuses = [...new Set(counts)].sort((a, b) => a - b);
  const pretence = recorder?.pretenceOf(observer, limit);
  // A pretence says nothing about the server's row.
  const row = pretence === undefined ? snapshot : undefined;
  return {
    id: idOf(item),
    name: item.name,
    key: item.key,
    statuses: statuses.map((count) => ({
      count,
      ...describeStatus(observer.check(item, now, count), snapshot, count, time),
    })),
    fill: checked ? fillOf(checked) : undefined,
    facts: [
      ...(checked && snapshot ? stateFacts(checked, snapshot, time) : []),
      ...(row
        ? [
            ["Server's row", describeRow(row, time)] as const,
            ["Read", readText(row.now, offset, time)] as const,
          ]
        : []),
      ["In flight", formatCount(debits, "debit")],
      ...(recorder?.network ? [["Charged by", chargedBy(recorder, item.name)] as const] : []),
    ],
    lines: recorder?.historyOf(observer).lines(limit, now),
    error: observer.error(item)?.message,
    pretence,
    pretences: snapshot && !Number.isNaN(offset) ? pretencesFor(snapshot.config) : [],
  };
}

function stateFacts(
  checked: CheckedRateLimit,
  snapshot: RateLimitSnapshot,
  time: KnownTime,
): Fact[] {
  const facts: Fact[] = [
    ["Value", describeValue(checked)],
    ...(snapshot.plan === undefined ? [] : [["Plan", snapshot.plan] as const]),
    ["Config", describeConfig(checked.config)],
  ];
  const window = describeWindow(snapshot, time);
  if (window !== undefined) facts.push(["Window", window]);
  const { held } = snapshot;
  if (held !== undefined) {
    facts.push([
      "Held",
      `${formatCount(formatTokens(held), unitOf(checked.config))}, not settled yet`,
    ]);
  }
  return facts;
}

/** The server has no list of procedures, so the text names those that calls of the page have shown. */
function chargedBy({ procedures }: Recorder, name: string): string {
  const shown = procedures.of(name).map(({ path, evidence }) => `${path} (${evidence})`);
  return shown.length === 0 ? "no call has shown it yet" : shown.join(", ");
}

function readText(at: number, offset: number, time: KnownTime): string {
  const age = formatAge(time.now + time.offset - at, time.isAtLeast);
  return Number.isNaN(offset) ? `${age}, from a cache` : age;
}

/** The part of the bar, 0 to 1; `undefined` where the limit has no bound, so that there is no bar. */
function fillOf({ value, config }: CheckedRateLimit): number | undefined {
  const bound = boundOf(config);
  if (bound === undefined) return undefined;
  return bound === 0 ? 0 : Math.min(1, Math.max(0, value / bound));
}
