/** The details of one limit as terms with a text each. */
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { CheckedRateLimit } from "../types.js";
import { describeConfig, unitOf } from "./describe-config.js";
import { describeRow, describeValue, describeWindow, type KnownTime } from "./describe-state.js";
import { formatAge, formatCount, formatTokens } from "./format.js";
import type { Evidence, ShownProcedure } from "./procedures.js";

/** A term and its text. */
export type Fact = readonly [term: string, text: string];

/** What is left of the limit, and what the limit is. */
export function stateFacts(
  checked: CheckedRateLimit,
  snapshot: RateLimitSnapshot,
  time: KnownTime,
): Fact[] {
  const facts: Fact[] = [
    ["Left", describeValue(checked)],
    ...(snapshot.plan === undefined ? [] : [["Plan", snapshot.plan] as const]),
    ["Limit", describeConfig(checked.config)],
  ];
  const window = describeWindow(snapshot, time);
  if (window !== undefined) facts.push(["Window", window]);
  const { held } = snapshot;
  if (held !== undefined) {
    facts.push([
      "Held",
      `${formatCount(formatTokens(held), unitOf(checked.config))}, by calls that are not settled yet`,
    ]);
  }
  return facts;
}

/** What the server has, and when it told so. */
export function rowFacts(row: RateLimitSnapshot, offset: number, time: KnownTime): Fact[] {
  const age = formatAge(time.now + time.offset - row.now, time.isAtLeast);
  return [
    ["Server's row", describeRow(row, time)],
    ["Last told", Number.isNaN(offset) ? `${age}, from a cache` : age],
  ];
}

const EVIDENCE: Record<Evidence, string> = {
  denial: "a denial has shown it",
  link: "the link says so",
  hook: "a hook has sent it",
};

/** The server has no list of procedures, so the text names those that calls of the page have shown. */
export function chargedBy(procedures: readonly ShownProcedure[]): string {
  const shown = procedures.map(({ path, evidence }) => `${path} (${EVIDENCE[evidence]})`);
  return shown.length === 0 ? "no call has shown it yet" : shown.join(", ");
}
