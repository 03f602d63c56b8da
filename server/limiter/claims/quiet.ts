/**
 * The takes of a limit with `warnAt` that cross no level for certain. Such a take needs no row but its
 * own, so a store may carry it out by itself: from nothing to the first mark, or from one mark to the
 * next. Where the row is, a process knows from its last call.
 */
import { emptyAt } from "../../../core/config.js";
import { usedAt } from "../../../core/rows/reading.js";
import type { Row } from "../../../core/rows/row.js";
import { justBelow } from "../../../core/rows/warning.js";
import type { PlainTake } from "../../store/store.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

type MarkedLimit = Pick<ResolvedLimit, "part" | "marks" | "quietMost" | "seen">;
type QuietTerms = Pick<PlainTake<unknown>, "floor" | "over" | "quiet">;

/** The least that a take from any row may leave, so that it crosses no level. */
export function quietFloor({ part, quietMost }: MarkedLimit, floor: number): number {
  return Math.max(floor, emptyAt(part) - quietMost);
}

/**
 * The terms of a take that crosses no level; `undefined` where this one is expected to cross a level.
 *
 * @param own the floor of the call.
 * @param now epoch ms.
 */
export function quietTerms(
  limit: MarkedLimit,
  count: number,
  own: number,
  now: number,
): QuietTerms | undefined {
  const { part, quietMost } = limit;
  const marks = limit.marks!;
  const used = knownUse(limit, now);
  const band = bandOf(marks, used);
  const next = marks[band];
  const most = next === undefined ? Infinity : justBelow(part, next);
  if (used + count > most) return undefined;
  const floor = Math.max(own, emptyAt(part) - most);
  return band === 0 ? { floor } : { floor, over: marks[band - 1]!, quiet: quietMost };
}

/**
 * The use that this process has seen. Nothing where it has seen an earlier window: of what a window carries
 * over, tokens may have come back since, and that crosses no level.
 */
function knownUse({ part, seen: [known] }: MarkedLimit, now: number): number {
  if (known === undefined) return 0;
  const isPast = part.kind === "fixed window" && usedAt(known, part, now).ts !== known.ts;
  return isPast ? 0 : known.used;
}

/**
 * Whether a change crosses no level, as far as this process can know: the change stays between the two
 * marks between which this process has seen the row, in the same window. Remembers the row.
 */
export function staysQuiet(
  limit: MarkedLimit,
  before: Row | null,
  after: Row,
  now: number,
): boolean {
  const { part, quietMost, seen } = limit;
  const [known] = seen;
  seen[0] = after;
  const next = usedAt(after, part, now);
  if (next.used <= quietMost) return true;
  if (known === undefined || before === null) return false;
  const was = usedAt(before, part, now);
  if (part.kind === "fixed window" && !(before.ts === next.ts && known.ts === next.ts))
    return false;
  const marks = limit.marks!;
  const band = bandOf(marks, next.used);
  return band === bandOf(marks, was.used) && band === bandOf(marks, known.used);
}

/** How many marks are reached. */
function bandOf(marks: readonly number[], used: number): number {
  return marks.findLastIndex((mark) => used >= mark) + 1;
}
