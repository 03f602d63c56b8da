/**
 * The context that the operations of a limiter share: its limits, its clock, its store and its listeners.
 */
import { capacityOf } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { isCredits, MOST_CREDITS } from "../../../core/rows/credits.js";
import type { ChangeChannel, ChangeListener } from "../../changes/change-channel.js";
import { changeDigest } from "../../changes/change-digest.js";
import { PLAN_NAME } from "../../changes/plan-digest.js";
import { notify } from "../../report/notify.js";
import type { Warn } from "../../report/occasional-warning.js";
import type { Leases } from "../../leases/leases.js";
import type { RateLimitStore, RowId } from "../../store/store.js";
import type { Line } from "./line.js";
import type { Answers } from "../answers/asked.js";
import type { WaitingCall } from "../answers/leased.js";
import type { RememberedDenials } from "../answers/remembered-denials.js";
import type { KeyOptions, PlanOptions } from "../types/call.js";
import type { SharedHolds } from "./shared-holds.js";
import type { PlanTable } from "../limits/plans/plan-table.js";
import type { Decisions } from "./decisions.js";
import type { DecisionEvent } from "../types/limiter-options.js";
import type { CountedLimit } from "../claims/counters.js";
import type { UsageCounter } from "../usage/open-usage.js";
import { usageOfEvent } from "../usage/usage-of-event.js";
import type { Crossed } from "../claims/warnings.js";
import type { MarkerFor } from "../claims/markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import type { Environment } from "../claims/environment.js";

/** The listeners that operations tell of their work. */
export interface Telling {
  environment: Environment;
  /**
   * Ends the blocks that this process has of a row: the row is deleted or lowered, or tokens of a hold
   * came back.
   */
  endLeases(row: RowId): void;
  decisions: Pick<Decisions, "heard">;
  /** Takes a turn of `autoPrune` after a call, where there is no timer. */
  turn: (() => void) | undefined;
  onChange(name: string, key: string | undefined): void;
  usage: UsageCounter;
  /** A decision has crossed levels of `warnAt`. */
  crossed(levels: readonly Crossed[]): void;
}

export interface Context extends Answers, Telling {
  /**
   * @param needsPlan whether a call without a plan is refused on a limit with plans. If not, the largest
   * plan counts, for operations that do not depend on the plan.
   * @default true
   */
  resolve(name: string, options: KeyOptions & PlanOptions, needsPlan?: boolean): ResolvedLimit;
  plans: PlanTable;
  markerFor: MarkerFor;
  /** How long ids are remembered where a limit does not set `onceFor`, ms. */
  onceFor: number;
  /** How long a trip may take, ms. A call of several trips begins no trip after that time. */
  timeout: number;
  /** Waits before a failure is tried again. Absent in transactions, which fail as a whole. */
  pause: ((ms: number) => Promise<void>) | undefined;
  /** Lists rows; in a transaction, the rows that it sees. Lists no rows where the store cannot list. */
  list: NonNullable<RateLimitStore["list"]>;
  /** The rows with the least `ts`; in a transaction, of the rows that it sees. */
  earliest: NonNullable<RateLimitStore["earliest"]>;
  /** Absent in transactions, and where requests own their I/O: there, no request may wait for another. */
  shared: SharedHolds | undefined;
  /** Reports, once in a while, a problem that no caller is told of. */
  warn: Warn;
  /** Absent in transactions: their rows are not committed yet. */
  denials: RememberedDenials | undefined;
  /**
   * The calls of `acquire` that wait, by row. Absent in transactions, which do not wait, and where
   * requests own their I/O: there, no call can wait for a reservation of another request.
   */
  lines: Map<string, Line> | undefined;
  /** The blocks of this process, for reads. Absent in transactions, which go by the rows alone. */
  leases: Leases<WaitingCall> | undefined;
}

/** The part of a limit that a report needs. Slots do not count their usage. */
type ReportedLimit = Pick<ResolvedLimit, "name" | "key" | "config"> &
  Partial<Pick<ResolvedLimit, "plan" | "part" | "answer">> &
  (CountedLimit | { usage?: undefined });

/**
 * - `"sum"`: this process sums the usage up.
 * - `"in its row"`: the decision has counted the usage in the row of the key, see `usageWrites`.
 * - `"none"`: nothing was used, and nothing is counted.
 */
type Counting = "sum" | "in its row" | "none";

/**
 * Tells the listeners of decisions about an answer, and the listeners of changes that a row has changed.
 * Counts the usage of a limit with `usage`.
 */
export function report(
  { decisions, turn, onChange, usage }: Telling,
  action: DecisionEvent["action"],
  { limit, count, context }: { limit: ReportedLimit; count: number; context?: unknown },
  result: RateLimitResult,
  isChange: boolean,
  counting: Counting = "sum",
): void {
  const { name, key, plan } = limit;
  if (isChange) onChange(name, key);
  if (limit.usage !== undefined && counting !== "none") {
    const used = usageOfEvent(action, count, result);
    if (used !== undefined) usage.add(limit, used, counting === "in its row");
  }
  if (turn !== undefined) notify(turn);
  const { heard } = decisions;
  if (heard === undefined) return;
  notify(heard, {
    action,
    name,
    key,
    ...(plan !== undefined && { plan }),
    count,
    result,
    ...sharedOf(limit, result),
    ...(context !== undefined && { context }),
  });
}

/** The capacity of a bucket and the used part of it, as far as an answer tells them. */
function sharedOf(
  { config, part = config, answer }: ReportedLimit,
  result: RateLimitResult,
): Pick<DecisionEvent, "capacity" | "share"> {
  const capacity = capacityOf(config);
  // A balance that has no capacity of its own is not used in part.
  if (isCredits(config) && capacity === MOST_CREDITS) return {};
  const isUnread = answer !== undefined || (result.ok && (result.storeFailed ?? result.repeated));
  // The value of a limit with shards is that of the shards that were asked.
  if (isUnread || part !== config) return { capacity };
  return { capacity, share: (capacity - result.value) / capacity };
}

/** @param isCounted whether the decision of the call has counted what a grant took. */
export function countingOf(isCounted: boolean | undefined, result: RateLimitResult): Counting {
  if (!isCounted || !result.ok || result.repeated || result.storeFailed) return "sum";
  return result.shadow?.ok === false ? "sum" : "in its row";
}

/** The listeners of changes: those of this process, and the channel to other processes. */
export function createChanges(
  channel: ChangeChannel | undefined,
  publish: ((digest: string) => unknown) | undefined,
) {
  const listeners = new Set<ChangeListener>();
  let ofPlans: ChangeListener | undefined;
  return {
    /**
     * Sets the listener that hears of changes of plans by this process, before the other listeners and
     * the channel hear of them.
     */
    hearPlans(listener: ChangeListener): void {
      ofPlans = listener;
    },
    tell(name: string, key: string | undefined): void {
      if (name === PLAN_NAME) ofPlans?.(changeDigest(name, key));
      if (listeners.size === 0 && publish === undefined) return;
      const digest = changeDigest(name, key);
      for (const listener of listeners) listener(digest);
      // A failure of `publish` is ignored, or the other calls of the same batch would get no answer.
      if (publish) notify(publish, digest);
    },
    listen(listener: ChangeListener): () => void {
      const safeListener: ChangeListener = (digest) => notify(listener, digest);
      listeners.add(safeListener);
      const unsubscribe = channel?.subscribe(safeListener);
      return () => {
        listeners.delete(safeListener);
        unsubscribe?.();
      };
    },
  };
}
