/** What the operations of a limiter share: its limits, its clock, its store and its listeners. */
import type { RateLimitResult } from "../../core/decide.js";
import { notify } from "../report/notify.js";
import type { Leases } from "../leases/leases.js";
import type { RowId } from "../store/store.js";
import type { KeyOptions, LimitConfigs } from "./call-options.js";
import type { Deadline } from "./deadline.js";
import type { Executor } from "./executor.js";
import type { LeasedCall } from "./leased-call.js";
import type { DecisionEvent, RateLimiterOptions } from "./limiter-options.js";
import type { MarkerFor } from "./once.js";
import type { RememberedDenials } from "./remembered-denials.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import type { TransactionScope } from "./receipt-entries.js";

/** What a decision needs besides its arguments. */
export interface Environment {
  /** May be called more than once per decision. */
  clock(): number;
  /** May be called more than once per decision. */
  random(): number;
  /** The same object in all calls of one limiter. It refuses the results of others. */
  readonly owner: object;
  /** The transaction of the calls, if `transaction` has begun it. */
  readonly scope?: TransactionScope | undefined;
}

export interface Context extends Executor {
  resolve(name: string, options: KeyOptions): ResolvedLimit;
  environment: Environment;
  markerFor: MarkerFor;
  /** Whether `whenStoreFails` counts. Not in a transaction, which the failure has ended. */
  mayFailOpen: boolean;
  /** Absent in transactions: what they decide on is not committed yet. */
  denials?: RememberedDenials | undefined;
  /** Absent in transactions, which go by the rows alone. */
  leases?: Leases<LeasedCall> | undefined;
  /** Bounds how long calls wait for a block. Present with `leases`. */
  deadline?: Deadline | undefined;
  /** The row is about to be deleted, or was: what this process holds of it ends. */
  endLeases(row: RowId): void;
  onDecision: RateLimiterOptions<LimitConfigs, never>["onDecision"];
  onChange(name: string, key: string | undefined): void;
}

/** Tells `onDecision` about an answer, and the listeners of changes that a row has changed. */
export function report(
  { onDecision, onChange }: Context,
  action: DecisionEvent["action"],
  { limit: { name, key }, count }: { limit: Pick<ResolvedLimit, "name" | "key">; count: number },
  result: RateLimitResult,
  isChange: boolean,
): void {
  if (isChange) onChange(name, key);
  if (onDecision !== undefined) notify(onDecision, { action, name, key, count, result });
}
