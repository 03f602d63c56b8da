/**
 * Ends the lapsed holds of a key, the oldest first: for a call that would be denied, and for a page that
 * shows the bucket. Callers of one process that need the same holds ended at the same time share the
 * work.
 */
import type { Row } from "../../../core/rows/row.js";
import { holdsIn, isLapsed, lapsingAt } from "../../../core/rows/hold.js";
import { rowKey } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { type EndedHold, endHold, type HeldLimit, LAPSE, rowsToEnd } from "../claims/end-hold.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import { findHolds, type FoundHold } from "./find-holds.js";
import { reportEnd } from "./report-end.js";

/** The most holds that one decision ends. */
const MOST_AT_ONCE = 200;

/**
 * Resolves with whether a row has changed: a hold has ended, or the row that adds up the holds now says
 * more exactly when the next hold lapses.
 */
export async function endLapsedHolds(context: Context, due: HoldingLimit): Promise<boolean> {
  const { shared } = context;
  if (shared === undefined) return endAllLapsed(context, due);
  const { ending } = shared;
  const id = rowKey(due.limit.holdRows![1]);
  const running = ending.get(id);
  if (running !== undefined) return running;
  const started = endAllLapsed(context, due).finally(() => ending.delete(id));
  ending.set(id, started);
  return started;
}

async function endAllLapsed(context: Context, { limit, sum: first }: HoldingLimit) {
  const { apply, environment, timeout } = context;
  const until = performance.now() + timeout / 2;
  let sum = first;
  let hasChanged = false;
  for (;;) {
    const found = await findHolds(context, limit, MOST_AT_ONCE + 1);
    const now = environment.clock();
    const lapsed = found.filter(({ hold }) => hold.until <= now).slice(0, MOST_AT_ONCE);
    const claim = new LapseClaim(context, { limit, sum }, found, lapsed);
    const decision = new ClaimDecision(claim, environment.clock);
    const [rest] = (await apply([decision])) as [Row | null];
    if (decision.isChange) {
      hasChanged = true;
      // The lease remembers the row as it was before the tokens came back.
      context.endLeases(limit.rows[0]);
      context.onChange(limit.name, limit.key);
    }
    for (const each of claim.ended) reportEnd(context, ...each);
    const hasMore = lapsed.length === MOST_AT_ONCE && decision.isChange;
    if (rest === null || !hasMore || performance.now() >= until) return hasChanged;
    sum = rest;
  }
}

/** Ends holds that have lapsed. The answer is the row that adds up the holds, as it is afterwards. */
class LapseClaim implements Claim<Row | null> {
  readonly rows: Claim<Row | null>["rows"];
  /** The holds that the last attempt has ended. */
  ended: (readonly [HeldLimit, EndedHold])[] = [];

  /** @param found all open holds of the key, or the holds that lapse first. */
  constructor(
    private readonly context: Context,
    private readonly due: HoldingLimit,
    private readonly found: readonly FoundHold[],
    private readonly lapsed: readonly FoundHold[],
  ) {
    const { limit } = due;
    const held = lapsed.flatMap(({ marker }) => rowsToEnd({ limit, marker }));
    this.rows = [limit.holdRows![1], limit.holdCount!, ...held];
  }

  attempt(...[draft, now]: Parameters<Claim<unknown>["attempt"]>): Row | null {
    const { found, lapsed } = this;
    const { limit, sum: then } = this.due;
    const [row, count] = [limit.holdRows![1], limit.holdCount!];
    const sum = draft.read(row);
    const isSame = sum?.used === then.used && sum.ts === then.ts;
    const areAll = found.length === holdsIn(draft.read(count));
    this.ended = lapsed.flatMap(({ marker }) => {
      const held = { limit, marker };
      const ended = lapse(draft, held, now);
      return ended === undefined ? [] : [[held, ended] as const];
    });
    const rest = draft.peek(row);
    if (rest === null) return rest;
    // In a transaction, a snapshot of MySQL lacks the holds that came after the snapshot, and some stores
    // list no rows.
    const isKnown = areAll || (found.length > MOST_AT_ONCE && !this.isInside);
    if (!isSame || !isKnown || this.ended.length < lapsed.length) return rest;
    const next = found[lapsed.length]?.hold.until;
    const exact = next === undefined ? null : lapsingAt(rest, next);
    if (exact !== null && exact.ts === rest.ts) return rest;
    draft.write(row, exact);
    return exact;
  }

  /** Whether the claim is in a transaction. Its list of holds may be older than the rows that it reads. */
  private get isInside(): boolean {
    return this.context.denials === undefined;
  }
}

/** Ends a hold; `undefined` where the hold has not lapsed. */
export function lapse(
  draft: Parameters<Claim<unknown>["attempt"]>[0],
  held: HeldLimit,
  now: number,
): EndedHold | undefined {
  const state = draft.peek(held.marker.hold!);
  if (!isLapsed(state, now)) return undefined;
  return endHold(draft, held, LAPSE, now);
}
