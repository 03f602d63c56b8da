/**
 * A model of the calls of a limit, one after the other: the arithmetic of `core` on a map of rows, and
 * the answers of its policies. The model has no store, no second process, no memory of denials and no
 * blocks.
 */
import { heldAt, usedAt } from "../../../core/rows/reading.js";
import { type Bucket, capacityOf, emptyAt } from "../../../core/config.js";
import { bucketConfig } from "../../../core/rows/credits.js";
import { takeTokens as takeFromRow, type RateLimitResult } from "../../../core/decide.js";
import { type ResolvedLimit, resolveLimit } from "../../../server/limiter/limits/resolved-limit.js";
import { markerKey } from "../../../core/rows/marker.js";
import { markerRow } from "../../../server/limiter/claims/markers.js";
import { rowKey } from "../../../server/store/store.js";
import { allRows } from "../../../server/limiter/claims/choose-shards.js";
import type { Terms } from "../../server/limiter/holds/holds-model.js";
import type { Tokens } from "./features.js";
import { HeldTokens, repeatedAt } from "./held-tokens.js";
import { type Rows, takeOnce, takeTokens, type Wanted } from "../../server/limiter/claims/turns.js";

export const KEY = "k";
/** How long a slot is held whose holder is silent, ms. */
const SLOT_LEASE = 30_000;

/** The kinds of overrides, each of which a key can have beside the others. */
export type Override = "times" | "add" | "unlimited" | "blocked";

/** The tokens of a top-up. */
export const ADDED = 3;

export interface Call {
  /** Which of the two processes makes it. */
  by: number;
  count: number;
  id: string | undefined;
  /** How its tokens are held under the id. */
  hold?: Terms;
}

export class Model {
  rows: Rows = new Map();
  /** In the order in which they were set. */
  private overrides: readonly Override[] = [];
  /** When the slots that are held are free, epoch ms, by their holders. */
  readonly holders = new Map<object, number>();

  /** Of a limit with holds, which also knows its ids. */
  readonly held: HeldTokens | undefined;

  /** @param configs of the limit, by process. */
  constructor(readonly configs: readonly Tokens[]) {
    if (configs[0]!.holds) this.held = new HeldTokens(this, configs[0]!);
  }

  /** @returns a function that undoes what comes after this call. */
  mark(): () => void {
    const { rows } = this;
    const undoHolds = this.held?.mark();
    this.rows = new Map(rows);
    return () => {
      this.rows = new Map(rows);
      undoHolds?.();
    };
  }

  limit(call: Call, now: number): RateLimitResult {
    return this.shown(this.decide(call, now), now);
  }

  /** The answer of `check`. A denial of it closes nothing. */
  check({ by, count }: Call, now: number): RateLimitResult {
    const fixed = this.fixed(by, now);
    if (fixed !== undefined) return fixed;
    if (this.held) return this.shown(this.held.check(by, count, now), now);
    const wanted = this.wanted({ by, count, id: undefined });
    return this.shown(takeTokens(new Map(this.rows), wanted, now, false), now);
  }

  /** The answer before `shadow`. */
  decide(call: Call, now: number): RateLimitResult {
    if (this.held) {
      const fixed = this.fixed(call.by, now);
      if (fixed === undefined) return this.held.limit(call, now);
      return this.held.isKnown(call.id, now) ? repeatedAt(now) : fixed;
    }
    const wanted = this.wanted(call);
    const marked = wanted.marker && this.rows.get(rowKey(wanted.marker.row));
    const isKnown = marked && now < marked.ts + wanted.marker!.onceFor;
    const fixed = this.fixed(call.by, now);
    if (fixed !== undefined && !isKnown) return fixed;
    return takeOnce(this.rows, new Map(this.rows), wanted, now);
  }

  /**
   * @param shards what an answer says that it took, and where.
   * @returns whether it was there.
   */
  takeFrom(shards: readonly { shard: number; count: number }[], by: number, now: number): boolean {
    const limit = this.resolved(by);
    return shards.every(({ shard, count }) => {
      const id = rowKey(allRows(limit)[shard]!);
      const row = this.rows.get(id) ?? null;
      const { used } = usedAt(row, limit.part, now);
      this.rows.set(id, takeFromRow(row, limit.part, now, count, -Infinity)!);
      return used + count < emptyAt(limit.part) + 1e-9;
    });
  }

  credit(by: number, count: number, now: number): number {
    const { part, rows } = this.resolved(by);
    const { value, ts } = heldAt(this.rows.get(rowKey(rows[0])), part, now);
    const next = Math.min(capacityOf(part), value + count);
    // A balance that is full is not written.
    if (next > value) this.rows.set(rowKey(rows[0]), { used: next, ts });
    return next;
  }

  /** The tokens that are left, in all shards. */
  value(by: number, now: number): number {
    const limit = this.resolved(by);
    const held = allRows(limit).map(
      (row) => heldAt(this.rows.get(rowKey(row)), limit.part, now).value,
    );
    return held.reduce((sum, value) => sum + value, 0);
  }

  /** How many slots are held. */
  slots(now: number): number {
    return [...this.holders.values()].filter((end) => now < end).length;
  }

  enter(slot: object, now: number): void {
    this.holders.set(slot, now + SLOT_LEASE);
  }

  /** Sets an override, which leaves what was used as used: no row is touched. */
  set(override: Override): void {
    this.overrides = [...this.overrides.filter((each) => each !== override), override];
  }

  /** Ends the overrides of a kind, or all of them. */
  clear(only?: Override): void {
    this.overrides = this.overrides.filter((each) => only !== undefined && each !== only);
  }

  /** Of two answers to all calls, the one that was set later. */
  private get answer(): Override | undefined {
    return this.overrides.findLast((each) => each === "unlimited" || each === "blocked");
  }

  /** The answer of an override that asks no row. */
  fixed(by: number, now: number): RateLimitResult | undefined {
    const value = capacityOf(this.resolved(by).config);
    if (this.answer === "unlimited") return { ok: true, value, ts: now };
    if (this.answer === "blocked") return { ok: false, retryAfter: 8e15, value: 0 };
    return undefined;
  }

  private shown(decided: RateLimitResult, now: number): RateLimitResult {
    const isReported = this.configs[0]!.shadow === true && this.answer !== "blocked";
    if (decided.ok || !isReported) return decided;
    const { retryAfter, ...rest } = decided;
    return { ts: now, ...rest, ok: true, shadow: { ok: false, retryAfter } };
  }

  resolved(by: number): ResolvedLimit {
    const config = bucketConfig(this.configs[by]!);
    const times = this.overrides.includes("times") ? 2 : 1;
    const added = this.overrides.includes("add") ? ADDED : 0;
    if (times === 1 && added === 0) return resolveLimit("limit", KEY, KEY, config);
    const capacity = times * config.capacity! + added;
    const other = { ...config, rate: times * config.rate, capacity };
    return resolveLimit("limit", KEY, KEY, other as Bucket);
  }

  private wanted({ by, count, id }: Call): Wanted {
    const limit = this.resolved(by);
    const onceFor = limit.onceFor ?? 0;
    const rows = limit.counted ?? allRows(limit);
    for (const row of rows) this.rows.set(rowKey(row), this.rows.get(rowKey(row)) ?? null);
    const marker =
      id === undefined
        ? undefined
        : { row: markerRow("limit", markerKey(KEY, id), onceFor, "take"), onceFor };
    return { limit, rows, count, reserve: false, maxWait: undefined, marker };
  }
}
