/** The rows of the table of overrides, as calls look for them: by the name of a limit, and by key. */
import { bucketId } from "../../../../core/bucket-id.js";
import { kindOf, OVERRIDE_KINDS } from "../../../../core/override-kinds.js";
import type { Bucket } from "../../../../core/config.js";
import type { OverrideRow } from "../../../store/override-table.js";
import type { ResolvedLimit } from "../resolved-limit.js";
import { isChange } from "./override-row.js";
import { overrideOf } from "./override-rule.js";
import type { OverrideKind, RateLimitOverride } from "../../types/override-types.js";

/** An override, and the limits that were resolved by it. */
export interface KnownOverride {
  readonly override: RateLimitOverride;
  readonly kind: OverrideKind;
  /** Of the row. */
  readonly id: string;
  /** By the limit as it is without the override. */
  readonly resolved: WeakMap<ResolvedLimit, ResolvedByOverride>;
}

/** A limit with an override, and the terms for the override that lies over this one. */
export interface ResolvedByOverride {
  readonly limit: ResolvedLimit;
  /** `undefined` for terms without a config: `"unlimited"` or `"none"`. */
  readonly given: Bucket | undefined;
}

/** The overrides of a key, or of all keys: each lies over those before it. */
export type Layers = readonly KnownOverride[];

/** The overrides of one limit. */
export interface OverridesOfLimit {
  all: Layers;
  readonly byKey: Map<string, Layers>;
}

/** @returns `undefined` for a row that another version has written. */
export function knownOf(row: OverrideRow): KnownOverride | undefined {
  const override = overrideOf(row);
  if (override === undefined) return undefined;
  const id = bucketId(row.name, row.key);
  return { override, kind: kindOf(override), id, resolved: new WeakMap() };
}

/** Rows that another version has written are left out. */
export function overridesByName(rows: readonly OverrideRow[]): Map<string, OverridesOfLimit> {
  const byName = new Map<string, OverridesOfLimit>();
  for (const row of rows) {
    if (isChange(row)) continue;
    const known = knownOf(row);
    if (known === undefined) continue;
    layer(byName, known.override, known.id, known);
  }
  return byName;
}

/** The overrides of exactly this key, `""` for all keys, that are in force: each over those before it. */
export function layersIn(
  rows: readonly OverrideRow[],
  name: string,
  key: string,
  now: number,
): RateLimitOverride[] {
  const ofLimit = overridesByName(rows).get(name);
  const layers = key === "" ? ofLimit?.all : ofLimit?.byKey.get(key);
  return layersAt(layers, now).map(({ override }) => override);
}

/**
 * Puts an override over those before it, in place of the one with the same row.
 *
 * @param known `undefined` for a row that is gone.
 */
export function layer(
  byName: Map<string, OverridesOfLimit>,
  { name, key = "" }: { name: string; key?: string | undefined },
  id: string,
  known: KnownOverride | undefined,
): void {
  let ofLimit = byName.get(name);
  if (ofLimit === undefined) {
    if (known === undefined) return;
    byName.set(name, (ofLimit = { all: [], byKey: new Map() }));
  }
  const before = (key === "" ? ofLimit.all : ofLimit.byKey.get(key)) ?? [];
  const others = before.filter((each) => each.id !== id);
  const layers = known === undefined ? others : [...others, known].toSorted(inOrder);
  if (key === "") ofLimit.all = layers;
  else if (layers.length === 0) ofLimit.byKey.delete(key);
  else ofLimit.byKey.set(key, layers);
  if (ofLimit.all.length === 0 && ofLimit.byKey.size === 0) byName.delete(name);
}

/** The place of a kind among the layers. */
export const PLACES: Record<OverrideKind, "terms" | "add" | "answer"> = {
  plan: "terms",
  config: "terms",
  times: "terms",
  add: "add",
  unlimited: "answer",
  blocked: "answer",
};
const ORDER = Object.values(PLACES);

/** Of two in one place, the later one lies over the other; at one instant, a ban over an exemption. */
function inOrder(a: KnownOverride, b: KnownOverride): number {
  const place = ({ kind }: KnownOverride) => ORDER.indexOf(PLACES[kind]);
  return (
    place(a) - place(b) ||
    a.override.setAt - b.override.setAt ||
    OVERRIDE_KINDS.indexOf(a.kind) - OVERRIDE_KINDS.indexOf(b.kind)
  );
}

/** The overrides that are in force. */
export function layersAt(layers: Layers | undefined, now: number): Layers {
  if (layers === undefined || layers.length === 0) return NONE;
  const isInForce = ({ override: { until = Infinity } }: KnownOverride) => now < until;
  return layers.every(isInForce) ? layers : layers.filter(isInForce);
}

const NONE: Layers = [];
