/** The decisions that are no calls: they read, charge, refund and reset rows of a limit. */
import { heldAt, type RateLimitState } from "../core/calculate.js";
import { chargeFloor, chargeRows } from "../core/charge.js";
import { capacityOf, type PeriodicConfig } from "../core/config.js";
import { grantOf, type RateLimitResult } from "../core/decide.js";
import {
  giveBack,
  type RefundedRateLimit,
  refundRateLimit,
  type TakenTokens,
} from "../core/refund.js";
import { fullestShards, sumShards } from "../core/shards.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { allRows, type ResolvedLimit } from "./resolve-limit.js";
import type { Decision, RowId } from "./store/store.js";
import type { Environment } from "./take.js";

/**
 * Charges tokens to rows of a limit.
 *
 * @param mayOwe whether the rows may go into debt. Where they may not and hold too few tokens, the
 * result is `undefined`, and nothing is written.
 */
export function chargeTo(
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
  mayOwe: boolean,
): Decision<RateLimitResult | undefined> {
  const { part } = limit;
  const floor = chargeFloor(part);
  const isPlain = limit.isPlain && rows.length === 1 && capacityOf(part) - count >= floor;
  return {
    rows,
    plain: isPlain
      ? {
          config: part as PeriodicConfig,
          count,
          floor,
          clock,
          granted: (next, later, now) => grantOf(next, part, now, later),
        }
      : undefined,
    decide(states) {
      const now = clock();
      const next = chargeRows(states, part, now, count);
      const [first] = next as [RateLimitState];
      if (!mayOwe && first.value < 0) return { result: undefined };
      const result = grantOf(first, part, now);
      // A charge of nothing must not write, because a closed bucket is recognised by its row.
      const writes = count > 0 ? next : undefined;
      if (next.length === 1) return { result, writes };
      const shards = rows.map(({ shard }, i) => {
        const held = heldAt(states[i], part, now);
        return { shard, count: held.value - next[i]!.value };
      });
      return { result: { ...result, value: next.length * result.value, shards }, writes };
    },
  };
}

/** Deletes a row: a row that does not exist is full, whatever the config of its limit. */
export function resetRow(row: RowId): Decision<void> {
  return {
    rows: [row],
    decide: ([state]) => ({ result: undefined, ...(state && { writes: [null] }) }),
  };
}

/**
 * Gives tokens back to rows of a limit. `rest` counts the tokens that were not given back.
 *
 * @param taken what is known of the taking, per row.
 */
export function refund(
  { part }: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
  taken?: readonly TakenTokens[],
): Decision<Omit<RefundedRateLimit, "next">> {
  return {
    rows,
    decide(states) {
      const { next, ...result } =
        taken === undefined
          ? refundRateLimit(states, part, clock(), count)
          : giveBack(states, part, clock(), count, taken);
      return { result, writes: next };
    },
  };
}

/** Reads a limit: its row, or the sum of its shards. */
export function readState(
  limit: ResolvedLimit,
  { clock }: Pick<Environment, "clock">,
): Decision<RateLimitState & Pick<RateLimitSnapshot, "fullest" | "now">> {
  const { config } = limit;
  const { shards = 1 } = config;
  return {
    rows: allRows(limit),
    readOnly: true,
    decide(states) {
      const now = clock();
      const [only] = states;
      const { value, ts } = shards === 1 && only ? only : sumShards(states, config, now);
      const fullest = shards > 1 && { fullest: fullestShards(states, config, now) };
      return { result: { value, ts, ...fullest, now } };
    },
  };
}
