/** Reads the content of the buckets of keys, as the admin router shows it. */
import { keyOption } from "../../../core/key-option.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import { ttlOf, waitForSlot } from "../../../core/rows/slot.js";
import type { LimitItem, LimitPage, ListOptions } from "../../limiter/types/list.js";
import { waitForOne } from "../../limiter/list/list-denied.js";
import { cursorOf, readItems } from "../../limiter/list/list-rows.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { readSlotItems } from "../../limiter/list/list-slots.js";
import type { AdminItem } from "./admin-types.js";

/** The part of a limiter that pages through keys. */
export interface Lists {
  list(name: string, options?: ListOptions): Promise<LimitPage>;
}

/** For slots: how many keys are read at a time, and how often for one page. */
const KEYS_AT_ONCE = 200;
const TURNS = 20;

/**
 * @param key the stored key; `undefined` for the shared bucket.
 * @param plan the plan of the key, without overrides; `undefined` where the plan is not known.
 */
export async function readItem(
  operator: Operator,
  name: string,
  key: string | undefined,
  plan: string | undefined,
): Promise<AdminItem> {
  const { context, clock } = operator;
  const slots = slotsOf(operator, name, plan);
  if (slots !== undefined) {
    const [item] = await readSlotItems({ clock, executor: context }, name, [key ?? ""], slots);
    return { ...slotItem(item!, slots), ...(plan !== undefined && { plan }) };
  }
  return operator.whenKnown(async (of: string) => {
    const limit = operator.resolve(of, { ...keyOption(key), plan });
    const [item] = await readItems({ executor: context }, [limit]);
    return withWait(operator, name, item!);
  })(name);
}

/** The slots that a key with this plan has; `undefined` for a limit of tokens. */
export function slotsOf(
  { slotConfigs, plans }: Operator,
  name: string,
  plan: string | undefined,
): ConcurrencyConfig | undefined {
  const own = slotConfigs.get(name);
  if (own === undefined || plan === undefined) return own;
  return plans.entry(name, plan) as ConcurrencyConfig;
}

/**
 * One page of keys. With `denied`, only keys for which the next call for one token, or for a slot, would
 * be denied.
 */
export async function listItems(
  operator: Operator,
  limiter: Lists,
  name: string,
  { denied, after, count }: { denied: boolean; after: string | undefined; count: number },
): Promise<{ items: AdminItem[]; next?: string | undefined }> {
  if (!operator.slotConfigs.has(name)) {
    const { items, next } = await limiter.list(name, { denied, after, count });
    return { items: denied ? items : items.map((item) => withWait(operator, name, item)), next };
  }
  if (denied) return listFull(operator, limiter, name, { after, count });
  const { items, next } = await limiter.list(name, { after, count });
  return { items: await slotItems(operator, name, items), next };
}

/** The keys that have no free slot. A page looks at 4,000 keys at most. */
async function listFull(
  operator: Operator,
  limiter: Lists,
  name: string,
  { after, count }: { after: string | undefined; count: number },
): Promise<{ items: AdminItem[]; next?: string | undefined }> {
  const items: AdminItem[] = [];
  let next = after;
  for (let turn = 0; turn < TURNS; turn++) {
    const page = await limiter.list(name, { after: next, count: KEYS_AT_ONCE });
    const read = await slotItems(operator, name, page.items);
    const found = read.filter(({ value }) => value < 1);
    const missing = count - items.length;
    items.push(...found.slice(0, missing));
    if (found.length > missing) return { items, next: cursorOf(items.at(-1)!.key ?? "") };
    next = page.next;
    if (next === undefined || items.length === count) break;
  }
  return { items, next };
}

/** Adds how long a call for one token would have to wait, if it would have to wait. */
function withWait(operator: Operator, name: string, item: LimitItem): AdminItem {
  const { key, plan } = item;
  const { answer } = operator.resolve(name, { ...keyOption(key), plan });
  const retryAfter = waitForOne(answer, item);
  return { ...item, ...(retryAfter !== undefined && { retryAfter }) };
}

/** A list does not know the plans of slots. Keys with known plans are read again by their plans. */
function slotItems(
  operator: Operator,
  name: string,
  items: readonly LimitItem[],
): Promise<AdminItem[]> {
  const slots = operator.slotConfigs.get(name)!;
  const read = items.map(async (item) => {
    const plan = await operator.planOf(name, item.key);
    return plan === undefined ? slotItem(item, slots) : readItem(operator, name, item.key, plan);
  });
  return Promise.all(read);
}

function slotItem(item: LimitItem, slots: ConcurrencyConfig): AdminItem {
  const { starts = [] } = item.config as { starts?: readonly number[] };
  if (item.value >= 1) return item;
  return { ...item, retryAfter: waitForSlot(starts, ttlOf(slots), item.now) };
}
