/** `ctx.rateLimit.settle`: corrects an estimate from within a procedure, or from its stream. */
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllResult, UntypedOperations } from "../limiter-types.js";

type Granted = RateLimitResult | LimitAllResult;

/**
 * Adds `settle` to what a procedure finds at `ctx.rateLimit`. The property is not enumerable, so
 * that a procedure can still return the decision to its client.
 *
 * @param mayFail whether a failure of the store reaches the procedure. Outside a transaction it must
 * not: the work is done, and the estimate stays charged.
 */
export function withSettle<TGranted extends Granted>(
  limits: Pick<UntypedOperations, "settle">,
  granted: TGranted,
  names: string | readonly string[],
  mayFail: boolean,
): TGranted {
  async function settleOne(result: RateLimitResult, actual: number): Promise<void> {
    try {
      await limits.settle(result, actual);
    } catch (error) {
      const { name } = Object(error) as { name?: unknown };
      if (mayFail || name !== "RateLimitStoreError") throw error;
    }
  }

  async function settle(actual: number | Readonly<Record<string, number>>): Promise<void> {
    if (typeof names === "string") return settleOne(granted as RateLimitResult, actual as number);
    const { results } = granted as LimitAllResult;
    const byName = actual as Readonly<Record<string, number>>;
    await Promise.all(
      names.map(async (name, i) => {
        if (Object.hasOwn(byName, name)) await settleOne(results[i]!, byName[name]!);
      }),
    );
  }

  return Object.defineProperty(granted, "settle", { value: settle });
}
