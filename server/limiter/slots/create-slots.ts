/** The limits of slots that a limiter names, and their operations. */
import type { ShownConfig } from "../../../core/config.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { ttlOf } from "../../../core/rows/slot.js";
import type { KeyOptions, PlanOptions } from "../types/call.js";
import type { Context } from "../context/context.js";
import type { createOperations } from "../verbs/operations.js";
import { enter, type EnterContext } from "./enter.js";
import type { EnterOptions } from "../types/enter.js";
import type { PlanTable } from "../limits/plans/plan-table.js";
import { createSlotsResolver } from "./slots-limit.js";
import { noTokens } from "../limits/no-tokens.js";
import { withSlots } from "./with-slots.js";

export type Slots = ReturnType<typeof createSlots>;

/**
 * @param toStoredKey what `createStoredKey` returned.
 * @param needsPlan whether a call of a limit with plans is refused without a plan.
 */
export function createSlots(
  configs: ReadonlyMap<string, ConcurrencyConfig>,
  plans: PlanTable,
  toStoredKey: (key: string | undefined) => string | undefined,
  needsPlan: boolean = true,
) {
  const resolve = createSlotsResolver(configs, plans, toStoredKey, needsPlan);
  const has = (name: string) => configs.has(name);

  return {
    has,
    resolve,
    /** The limit's own config; `undefined` for a limit of tokens. */
    get: (name: string) => configs.get(name),
    enter: (context: Omit<EnterContext, "resolveSlots">, name: string, options?: EnterOptions) =>
      enter({ ...context, resolveSlots: resolve }, name, options),
    operations: (operations: ReturnType<typeof createOperations>, context: Context) =>
      withSlots(operations, context, has, resolve),

    /** Wraps a resolver of tokens, so that it refuses the names of limits of slots. */
    refusing<TResolved>(
      resolveTokens: (
        name: string,
        options: KeyOptions & PlanOptions,
        isPlanNeeded?: boolean,
      ) => TResolved,
    ) {
      return (
        name: string,
        options: KeyOptions & PlanOptions,
        isPlanNeeded?: boolean,
      ): TResolved => {
        if (has(name)) throw noTokens(name);
        return resolveTokens(name, options, isPlanNeeded);
      };
    },

    /** The config that header fields and denials show: as many tokens as slots, in each `ttl`. */
    configOf(name: string, options: KeyOptions & PlanOptions): ShownConfig {
      const { slots } = resolve(name, options);
      const period = ttlOf(slots);
      return { kind: "fixed window", rate: slots.slots, period, start: 0, slots: slots.slots };
    },
  };
}
