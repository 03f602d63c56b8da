/** Limits that answer every call without a look at their rows: exempt limits and blocked limits. */
import { capacityOf, longestPeriod, type Bucket } from "../../../../core/config.js";
import { isCredits } from "../../../../core/rows/credits.js";
import { rowId } from "../../../store/store.js";
import type { FixedRow } from "./fixed-row.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import { beneathAnswer } from "./overridden-answer.js";

/** A limit without rows in the store. */
function withoutRows(
  beneath: ResolvedLimit,
  config: Bucket,
  fixed: FixedRow["fixed"],
): Omit<ResolvedLimit, "answer"> {
  const { name, rows } = beneath;
  // No row in a store has the shard -1, so no code takes this row for a row in a store.
  const row: FixedRow = { ...rowId(name, rows[0].key, -1, config), fixed };
  return {
    ...beneath,
    config: Object.freeze(config),
    part: config,
    floor: 0,
    isPlain: false,
    failsOpen: false,
    rememberFor: 0,
    via: "row",
    counted: undefined,
    holdRows: undefined,
    lease: undefined,
    seen: [],
    rows: [row],
  };
}

/** A limit that grants every call. A page shows it like a shadow: full, and with no call withheld. */
export function unlimited(beneath: ResolvedLimit): ResolvedLimit {
  const { shards: _, blockFor: __, afterBlock: ___, ...whole } = beneath.config;
  const config = { ...whole, shadow: true } as Bucket;
  const answer = { kind: "unlimited", until: undefined, beneath } as const;
  return { ...withoutRows(beneath, config, null), answer };
}

/**
 * The limit as a limiter that is switched off has it: it grants every call, and counts no usage. A balance
 * of credits is at its capacity.
 */
export function switchedOff(limit: ResolvedLimit): ResolvedLimit {
  const free = unlimited(beneathAnswer(limit));
  const { config, rows } = free;
  const [row] = rows as readonly [FixedRow];
  const fixed = isCredits(config) ? { used: capacityOf(config), ts: 0 } : null;
  return { ...free, usage: undefined, rows: [{ ...row, fixed } as FixedRow] };
}

/**
 * A limit that denies every call. A page sees an empty bucket, which a window fills when the ban ends.
 *
 * @param until when the ban ends, epoch ms; `undefined` for never.
 */
export function blocked(
  beneath: ResolvedLimit,
  until: number | undefined,
  setAt: number,
): ResolvedLimit {
  const capacity = capacityOf(beneath.config);
  const config: Bucket = {
    kind: "fixed window",
    // A page accepts no rate of 0, which credits have.
    rate: capacity || beneath.config.rate || 1,
    // `starts` says when the window starts, so no call goes by the period. A page needs a number all the
    // same.
    period: longestPeriod(beneath.config),
    capacity,
    maxReserved: 0,
    starts: until === undefined ? [] : [until],
  };
  const answer = { kind: "blocked", until, beneath } as const;
  return { ...withoutRows(beneath, config, { used: capacity, ts: setAt }), answer };
}
