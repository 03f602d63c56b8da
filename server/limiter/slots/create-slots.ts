/** What a limiter has besides its tokens: the limits of slots that it names. */
import type { ShownConfig } from "../../../core/config.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { ttlOf } from "../../../core/rows/slot.js";
import type { KeyOptions } from "../call-options.js";
import type { Context } from "../context.js";
import type { createOperations } from "../operations.js";
import { enter, type EnterContext } from "./enter.js";
import type { EnterOptions } from "./enter-options.js";
import { createSlotsResolver, noTokens } from "./slots-limit.js";
import { withSlots } from "./with-slots.js";

export type Slots = ReturnType<typeof createSlots>;

/**
 * @param toStoredKey what `createStoredKey` returned.
 */
export function createSlots(
  configs: ReadonlyMap<string, ConcurrencyConfig>,
  toStoredKey: (key: string | undefined) => string | undefined,
) {
  const resolve = createSlotsResolver(configs, toStoredKey);
  const has = (name: string) => configs.has(name);

  return {
    has,
    /** The limit's own config; `undefined` where it is one of tokens. */
    get: (name: string) => configs.get(name),
    enter: (context: Omit<EnterContext, "resolveSlots">, name: string, options?: EnterOptions) =>
      enter({ ...context, resolveSlots: resolve }, name, options),
    operations: (operations: ReturnType<typeof createOperations>, context: Context) =>
      withSlots(operations, context, has, resolve),

    /** The same resolver, which refuses the names of slots. */
    refusing<TResolved>(resolveTokens: (name: string, options: KeyOptions) => TResolved) {
      return (name: string, options: KeyOptions): TResolved => {
        if (has(name)) throw noTokens(name);
        return resolveTokens(name, options);
      };
    },

    /** What header fields and denials say of the limit: as many tokens as slots, in each `ttl`. */
    configOf(name: string, options: KeyOptions): ShownConfig {
      const { slots } = resolve(name, options);
      const period = ttlOf(slots);
      return { kind: "fixed window", rate: slots.slots, period, start: 0, slots: slots.slots };
    },
  };
}
