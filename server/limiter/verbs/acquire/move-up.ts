/**
 * The claim that gives tokens of ended calls back to a row for which calls of this process wait. If the
 * reservations of these calls are the last changes of the row, they are undone, the tokens come back, and
 * the reservations are made again: the calls move up. Without that, a call that had estimated too much
 * would get nothing back while other calls wait, and a line would go on at the pace of estimates.
 */
import { stateAt } from "../../../../core/calculate.js";
import { tokensOf } from "../../../../core/rows/reading.js";
import { rowOfTokens } from "../../../../core/rows/bucket.js";
import type { Row } from "../../../../core/rows/row.js";
import { markerOf } from "../../../../core/rows/marker.js";
import type { RowId } from "../../../store/store.js";
import { decideOnRow } from "../../claims/token-claim.js";
import type { Claim, Draft } from "../../claims/draft.js";
import type { LimitRequest } from "../../limits/limit-request.js";
import type { Granted } from "../../context/line.js";
import type { Refunded } from "../../claims/refund-rows.js";

/** Tokens that are reserved for a call of this process. */
export interface Reservation {
  readonly request: LimitRequest;
  /** The result of the reservation, with the tokens that the row has held since. */
  readonly result: Granted;
  /** When the turn comes, epoch ms. */
  readonly at: number;
  /**
   * The row of the marker of the call's id, and the instant of the marker. A later settlement finds the
   * marker by the row and the instant.
   */
  readonly mark?: { readonly row: RowId; readonly ts: number } | undefined;
}

export class MovingUp implements Claim<readonly Refunded[]> {
  readonly rows: readonly RowId[];
  /**
   * The instant of the decision, and the new results of the reservations; empty where no turn has moved.
   */
  moved: { readonly now: number; readonly results: ReadonlyMap<Reservation, Granted> } = {
    now: 0,
    results: new Map(),
  };

  private readonly row: RowId;

  /**
   * @param claims each claim gives tokens back to the same row, which is the first of its rows.
   * @param reservations the reservations of this process, in their order.
   */
  constructor(
    private readonly claims: readonly Claim<Refunded>[],
    private readonly reservations: readonly Reservation[],
  ) {
    const marks = reservations.flatMap(({ mark }) => mark?.row ?? []);
    this.rows = [...claims.flatMap(({ rows }) => rows), ...marks];
    this.row = claims[0]!.rows[0]!;
  }

  attempt(draft: Draft, now: number): readonly Refunded[] {
    const fork = draft.fork();
    const results = new Map<Reservation, Granted>();
    const last = lastOf(this.reservations, draft.read(this.row));
    const answers = last.length > 0 ? this.#attempt(fork, now, last, results) : undefined;
    this.moved = { now, results };
    if (answers !== undefined) {
      draft.adopt(fork);
      return answers;
    }
    results.clear();
    return this.claims.map((claim) => claim.attempt(draft, now));
  }

  /** @returns `undefined` where nothing would come back, or a call would have to wait longer. */
  #attempt(
    draft: Draft,
    now: number,
    reservations: readonly Reservation[],
    results: Map<Reservation, Granted>,
  ): readonly Refunded[] | undefined {
    const [first] = reservations as [Reservation];
    const { value, ts } = first.result;
    const { count, limit } = first.request;
    draft.write(this.row, rowOfTokens(limit.part, { value: value + count, ts }));
    const answers = this.claims.map((claim) => claim.attempt(draft, now));
    if (!answers.some(({ refunded }) => refunded.some((tokens) => tokens > 0))) return undefined;
    for (const each of reservations) {
      const request = { ...each.request, maxWait: undefined };
      const { result, next } = decideOnRow(request, draft.read(this.row), now);
      // A turn that is due may still be waiting for this decision.
      const isLater = now + (result.retryAfter ?? 0) > Math.max(now, each.at);
      if (!result.ok || isLater) return undefined;
      if (next !== undefined) draft.write(this.row, next);
      if (each.mark !== undefined) {
        // The hold of the call may have ended meanwhile.
        if (draft.read(each.mark.row)?.ts !== each.mark.ts) return undefined;
        draft.write(each.mark.row, markerOf(draft.read(this.row)!, limit.part, now));
      }
      results.set(each, result);
    }
    const left = tokensOf(draft.peek(this.row)!, limit.part).value;
    return answers.map((answer) => ({ ...answer, value: left }));
  }
}

/** The reservations after which nothing else has changed the row, in their order. */
function lastOf(reservations: readonly Reservation[], row: Row | null): Reservation[] {
  const last: Reservation[] = [];
  let after = row;
  for (const each of reservations.toReversed()) {
    const { request, result } = each;
    if (after === null) break;
    const { part } = request.limit;
    const { value, ts } = stateAt(result, part, after.ts);
    if (ts !== after.ts || !isNear(value, tokensOf(after, part).value)) break;
    last.unshift(each);
    after = rowOfTokens(part, { value: result.value + request.count, ts: result.ts });
  }
  return last;
}

function isNear(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
}
