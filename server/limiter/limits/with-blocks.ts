/** The tokens that this process sees of a limit: those in the row, and those in its own blocks. */
import { capacityOf } from "../../../core/config.js";
import type { Leases } from "../../leases/leases.js";
import type { ResolvedLimit } from "./resolved-limit.js";

/** @param value the tokens of the row. */
export function withBlocks<TCall>(
  leases: Leases<TCall> | undefined,
  limit: ResolvedLimit,
  value: number,
): number {
  if (limit.lease === undefined || leases === undefined) return value;
  const inBlocks = leases.inBlocks(limit);
  // The sum is above the capacity only where another process has filled the row meanwhile.
  return inBlocks === 0
    ? value
    : Math.max(value, Math.min(value + inBlocks, capacityOf(limit.part)));
}
