/** Reads what the buckets of keys hold, as the admin router shows it. */
import { keyOption } from "../../../core/key-option.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { ttlOf, waitForSlot } from "../../../core/rows/slot.js";
import type { LimitItem, LimitPage, ListOptions } from "../../limiter/limiter-types.js";
import { waitForOne } from "../../limiter/list-denied.js";
import { cursorOf, readItems } from "../../limiter/list-rows.js";
import type { Operator } from "../../limiter/operator.js";
import { readSlotItems } from "../../limiter/slots/list-slots.js";
import type { AdminItem } from "./admin-types.js";

/** The part of a limiter that pages through keys. */
export interface Lists {
  list(name: string, options?: ListOptions): Promise<LimitPage>;
}

/** Keys of slots that are read at a time, and how often for one page. */
const KEYS_AT_ONCE = 200;
const TURNS = 20;

/** @param key the stored one; `undefined` for the shared bucket. */
export async function readItem(
  operator: Operator,
  name: string,
  key: string | undefined,
): Promise<AdminItem> {
  const { context, clock, slotConfigs } = operator;
  const slots = slotConfigs.get(name);
  if (slots !== undefined) {
    const [item] = await readSlotItems({ clock, executor: context }, name, [key ?? ""], slots);
    return slotItem(item!, slots);
  }
  return operator.first(async (of: string) => {
    const limit = operator.resolve(of, keyOption(key));
    const [item] = await readItems({ clock, executor: context, leases: context.leases }, [limit]);
    return withWait(item!);
  })(name);
}

/** One page of keys. With `denied`, those whose next call for one token, or for a slot, is denied. */
export async function listItems(
  { slotConfigs }: Operator,
  limiter: Lists,
  name: string,
  { denied, after, count }: { denied: boolean; after: string | undefined; count: number },
): Promise<{ items: AdminItem[]; next?: string | undefined }> {
  const slots = slotConfigs.get(name);
  if (slots === undefined) {
    const { items, next } = await limiter.list(name, { denied, after, count });
    return { items: denied ? items : items.map(withWait), next };
  }
  if (denied) return listFull(limiter, name, slots, { after, count });
  const { items, next } = await limiter.list(name, { after, count });
  return { items: items.map((item) => slotItem(item, slots)), next };
}

/** The keys that have no free slot. A page looks at some thousand keys at most. */
async function listFull(
  limiter: Lists,
  name: string,
  slots: ConcurrencyConfig,
  { after, count }: { after: string | undefined; count: number },
): Promise<{ items: AdminItem[]; next?: string | undefined }> {
  const items: AdminItem[] = [];
  let next = after;
  for (let turn = 0; turn < TURNS; turn++) {
    const page = await limiter.list(name, { after: next, count: KEYS_AT_ONCE });
    const found = page.items.map((item) => slotItem(item, slots)).filter(({ value }) => value < 1);
    const missing = count - items.length;
    items.push(...found.slice(0, missing));
    if (found.length > missing) return { items, next: cursorOf(items.at(-1)!.key ?? "") };
    next = page.next;
    if (next === undefined || items.length === count) break;
  }
  return { items, next };
}

/** With how long a call for one token would have to wait, where it would. */
function withWait(item: LimitItem): AdminItem {
  const { blocked, unlimited, until } = item.override ?? {};
  const kind = blocked ? "blocked" : unlimited ? "unlimited" : undefined;
  const retryAfter = waitForOne(kind && { kind, until }, item);
  return { ...item, ...(retryAfter !== undefined && { retryAfter }) };
}

function slotItem(item: LimitItem, slots: ConcurrencyConfig): AdminItem {
  const { starts = [] } = item.config as { starts?: readonly number[] };
  if (item.value >= 1) return item;
  return { ...item, retryAfter: waitForSlot(starts, ttlOf(slots), item.now) };
}
