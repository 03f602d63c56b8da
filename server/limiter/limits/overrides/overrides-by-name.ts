/** The rows of the table of overrides, as calls look for them: by the name of a limit, and by key. */
import type { OverrideRow } from "../../../store/override-table.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import { overrideOf } from "./override-rule.js";
import type { RateLimitOverride } from "../../types/override-types.js";

/** An override, and the limits that were resolved by it. */
export interface KnownOverride {
  readonly override: RateLimitOverride;
  /** By the limit as it is without the override. */
  readonly resolved: WeakMap<ResolvedLimit, ResolvedLimit>;
}

/** The overrides of one limit. */
export interface OverridesOfLimit {
  all: KnownOverride | undefined;
  readonly byKey: Map<string, KnownOverride>;
}

/** Rows that another version has written are left out. */
export function overridesByName(rows: readonly OverrideRow[]): Map<string, OverridesOfLimit> {
  const byName = new Map<string, OverridesOfLimit>();
  for (const row of rows) {
    const override = knownOf(row);
    if (override === undefined) continue;
    let ofLimit = byName.get(row.name);
    if (ofLimit === undefined) {
      byName.set(row.name, (ofLimit = { all: undefined, byKey: new Map() }));
    }
    if (row.key === "") ofLimit.all = override;
    else ofLimit.byKey.set(row.key, override);
  }
  return byName;
}

function knownOf(row: OverrideRow): KnownOverride | undefined {
  const override = overrideOf(row);
  return override && { override, resolved: new WeakMap() };
}
