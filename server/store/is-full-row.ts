import { isFullAt, type RateLimitState } from "../../core/calculate.js";
import type { RateLimitConfig } from "../../core/config.js";
import { withStart } from "../../core/phase.js";
import type { RowId } from "./store.js";

/**
 * Whether a row is full under all of these configs. Only months depend on `start`, so that of other
 * windows is not derived for each row.
 *
 * @param at epoch ms.
 */
export function isFullRow(
  { name, key }: Pick<RowId, "name" | "key">,
  state: RateLimitState,
  configs: readonly RateLimitConfig[],
  at: number,
): boolean {
  return configs.every((config) => {
    const own = config.period === "month" ? withStart(config, name, key || undefined) : config;
    return isFullAt(state, own, at);
  });
}
