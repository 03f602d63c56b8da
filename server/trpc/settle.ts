/** `ctx.rateLimit.settle`: corrects an estimate from within a procedure, or from its stream. */
import { validateCount } from "../../core/count.js";
import type { RateLimitResult } from "../../core/decide.js";
import type { Entry } from "./charged-names.js";
import type { ItemResult, LimitAllResult } from "../limiter/types/limit-all.js";
import type { SettleResult } from "../limiter/types/settle.js";
import type { UntypedOperations } from "../limiter/types/untyped.js";
import {
  isMissing,
  type Usage,
  type UsageByName,
  validateByName,
} from "../limiter/holds/reported-use.js";

type Granted = RateLimitResult | LimitAllResult<ItemResult[]>;

/**
 * Adds `settle` to what a procedure finds at `ctx.rateLimit`. The property is not enumerable, so
 * that a procedure can still return the decision to its client.
 *
 * @param entries of a list of limits; `undefined` where one limit was charged.
 * @param mayFail whether a failure of the store reaches the procedure. Pass `false` outside a
 * transaction: the work is done, and the estimate stays charged.
 */
export function withSettle<TGranted extends Granted>(
  limits: Pick<UntypedOperations, "settle">,
  granted: TGranted,
  entries: readonly Entry[] | undefined,
  mayFail: boolean,
): TGranted {
  const settleOne = (result: ItemResult, actual: Usage): Promise<SettleResult> =>
    mayFail ? limits.settle(result, actual) : settleQuietly(limits, result, actual);

  async function settle(actual: Usage | UsageByName): Promise<SettleResult> {
    if (entries === undefined) return settleOne(granted as RateLimitResult, actual as Usage);
    const { results } = granted as LimitAllResult<ItemResult[]>;
    // If the use of the whole call is not known, the use of each limit is not known.
    const byName = isMissing(actual)
      ? Object.fromEntries(entries.map(({ names }) => [names[0]!, actual]))
      : (actual as UsageByName);
    validateByName(
      byName,
      entries.map(({ names }) => names),
    );
    for (const used of Object.values(byName)) if (!isMissing(used)) validateCount(used);
    const settled = await Promise.all(
      Object.entries(byName).map(([name, used]) => {
        const at = entries.findIndex(({ names }) => names.includes(name));
        return settleOne(results[at]!, used);
      }),
    );
    return { settled: settled.every((one) => one.settled) };
  }

  return Object.defineProperty(granted, "settle", { value: settle });
}

/** Settles, and leaves the estimate charged if the store fails. */
export async function settleQuietly(
  limits: Pick<UntypedOperations, "settle">,
  result: ItemResult,
  actual: Usage,
): Promise<SettleResult> {
  try {
    return await limits.settle(result, actual);
  } catch (error) {
    const { name } = Object(error) as { name?: unknown };
    if (name !== "RateLimitStoreError") throw error;
    return { settled: false };
  }
}
