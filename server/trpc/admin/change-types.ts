/** What operators have changed, as the admin router shows it. Plain JSON. */
import type { OperatorAction } from "../../limiter/types/limiter-options.js";
import type { OverrideRule } from "../../limiter/types/override-types.js";
import type { AdminItem, AdminOverride } from "./admin-types.js";

/** The answer of each action but `plan`. */
export interface AdminChange {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The bucket after the action; for an action on all keys, the shared bucket. */
  item: AdminItem;
  /**
   * The overrides of exactly this key, or of all keys, that are in force after the action: each lies over
   * those after it. Absent where there is none.
   */
  overrides?: AdminOverride[] | undefined;
  /** The `id` of the change, for `undo`; absent where the log is not kept. */
  change?: string | undefined;
}

/** The answer of `plan`. */
export interface AdminPlanChange<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The limits that were changed, in the order of the limiter. */
  changes: (AdminChange & {
    /** The limit. */
    name: TName;
  })[];
}

/** The answer of `overrides`. */
export interface AdminOverrides<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /** The overrides that are in force: those that end soon first, then those without an end. */
  items: AdminOverride<TName>[];
  /** How many there are in all, of the limits that this caller may view. */
  total: number;
}

/** A change that an operator has made. */
export interface AdminChangeEntry<TName extends string = string> {
  /** For `undo`. */
  id: string;
  /** Epoch ms. */
  at: number;
  /** What was done. */
  action: OperatorAction;
  /** The limit. */
  name: TName;
  /** The key of the rows, hashed where there is a `hashKey`; absent for all keys and the shared bucket. */
  key?: string | undefined;
  /** The operator, as `admin.actor` names them. */
  by?: string | undefined;
  /** The reason that the operator gave. */
  why?: string | undefined;
  /** The overrides that were replaced or ended. */
  before: AdminOverrideState[];
  /** The overrides that were set. */
  after: AdminOverrideState[];
  /** The `id` of the change that undid this one. */
  undoneBy?: string | undefined;
  /** The `id` of the change that this one has undone. */
  undoes?: string | undefined;
  /**
   * Whether this caller can undo it: the caller may take such an action, and the change knows what was
   * before. Where the override was changed again meanwhile, `undo` is refused.
   */
  canUndo: boolean;
}

/** What an override said. */
export type AdminOverrideState = OverrideRule & {
  /** When it was to end, epoch ms; absent for never. */
  until?: number | undefined;
};

/** The answer of `changes`. */
export interface AdminChanges<TName extends string = string> {
  /** The limiter's clock, epoch ms. */
  now: number;
  /**
   * Whether changes are kept: in the table of overrides, for 90 days, and the 1,000 newest. `false` for a
   * limiter without `overrides`.
   */
  kept: boolean;
  /**
   * The changes, the newest first. A process that is killed in the middle of an action may leave a change
   * here that has not been done. No change is missing.
   */
  items: AdminChangeEntry<TName>[];
}
