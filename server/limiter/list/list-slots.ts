/** How many slots of each key are free, for the pages of `list`. */
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import type { LimitItem } from "../types/list.js";
import type { ListContext } from "./list-rows.js";
import { MAX_ROWS } from "../../store/max-rows.js";
import { readSlots } from "../slots/read-slots.js";
import { resolve } from "../slots/slots-limit.js";

export async function readSlotItems(
  { clock, executor }: Pick<ListContext, "clock" | "executor">,
  name: string,
  stored: readonly string[],
  slots: ConcurrencyConfig,
): Promise<LimitItem[]> {
  const items: LimitItem[] = [];
  const perTrip = Math.max(1, Math.floor(MAX_ROWS / slots.slots));
  for (let from = 0; from < stored.length; from += perTrip) {
    const keys = stored.slice(from, from + perTrip).map((key) => (key === "" ? undefined : key));
    const limits = keys.map((key) => resolve(name, key, key, slots));
    const states = await executor.apply(limits.map((limit) => readSlots(limit, clock)));
    for (const [i, { now, value, config }] of states.entries()) {
      items.push({ key: keys[i], value, ts: now, config, now });
    }
  }
  return items;
}
