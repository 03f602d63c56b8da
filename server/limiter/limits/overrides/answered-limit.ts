/** Limits that answer every call without a look at their rows: those that are exempt or blocked. */
import { capacityOf, longestPeriod, type Bucket } from "../../../../core/config.js";
import { rowId } from "../../../store/store.js";
import type { FixedRow } from "./fixed-row.js";
import type { ResolvedLimit } from "../resolved-limit.js";

/** A limit without rows in the store. */
function withoutRows(
  beneath: ResolvedLimit,
  config: Bucket,
  fixed: FixedRow["fixed"],
): Omit<ResolvedLimit, "answer"> {
  const { name, rows } = beneath;
  // No row of a limit has such a shard, so nothing takes it for one.
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

/** A page shows it as it shows a shadow: full, and never withheld. */
export function unlimited(beneath: ResolvedLimit): ResolvedLimit {
  const { shards: _, blockFor: __, afterBlock: ___, ...whole } = beneath.config;
  const config = { ...whole, shadow: true } as Bucket;
  const answer = { kind: "unlimited", until: undefined, beneath } as const;
  return { ...withoutRows(beneath, config, null), answer };
}

/**
 * A page sees a bucket that is empty, and that a window fills when the block ends.
 *
 * @param until when it ends, epoch ms; `undefined` for never.
 */
export function blocked(
  beneath: ResolvedLimit,
  until: number | undefined,
  setAt: number,
): ResolvedLimit {
  const capacity = capacityOf(beneath.config);
  const config: Bucket = {
    kind: "fixed window",
    // A page takes no rate of 0, as credits have it.
    rate: capacity || beneath.config.rate || 1,
    // `starts` stand in for it. A page needs a number all the same.
    period: longestPeriod(beneath.config),
    capacity,
    maxReserved: 0,
    starts: until === undefined ? [] : [until],
  };
  const answer = { kind: "blocked", until, beneath } as const;
  return { ...withoutRows(beneath, config, { used: capacity, ts: setAt }), answer };
}
