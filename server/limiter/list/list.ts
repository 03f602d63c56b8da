/** Pages through the buckets of a limit, one item per key, for an administrator's view. */
import { RateLimitConfigError } from "../../../core/errors.js";
import { rowsPerKey } from "../../../core/rows/kinds.js";
import { LIST_OPTIONS } from "../types/list.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { LimitPage, ListOptions } from "../types/list.js";
import { listDenied } from "./list-denied.js";
import {
  cursorOf,
  keyOfCursor,
  limitsOf,
  type ListContext,
  listKeys,
  readItems,
} from "./list-rows.js";
import { configOf } from "../limits/resolved-limit.js";
import { readSlotItems } from "./list-slots.js";
import { noTokens } from "../limits/no-tokens.js";

/** Items per page. */
const DEFAULT_COUNT = 100;
const MAX_COUNT = 1000;

export async function list(
  context: ListContext,
  name: string,
  options: ListOptions = {},
): Promise<LimitPage> {
  rejectUnknownOptions(options, LIST_OPTIONS, "list()");
  const { config: inline, plan, after, count = DEFAULT_COUNT, denied = false } = options;
  if (plan !== undefined) context.plans.idOf(name, plan, true);
  const config = context.slots?.get(name) ?? configOf(context.configs, name, inline);
  const isSlots = config.kind === "concurrency";
  if (isSlots && (inline !== undefined || denied)) throw noTokens(name);
  if (!Number.isSafeInteger(count) || count < 1 || count > MAX_COUNT) {
    throw new RateLimitConfigError("count", count, `a whole number from 1 to ${MAX_COUNT}`);
  }
  if (typeof denied !== "boolean") throw new RateLimitConfigError("denied", denied, "a boolean");
  if (denied && !isSlots) return listDenied(context, name, { config, inline, plan, after, count });
  const last = after === undefined ? undefined : keyOfCursor(after);
  // One key more than the page has, to learn whether there is another page.
  const keys = await listKeys(context, name, last, count + 1, rowsPerKey(config));
  const shown = keys.slice(0, count);
  const next = keys.length > count ? cursorOf(shown.at(-1)!) : undefined;
  if (isSlots) return { items: await readSlotItems(context, name, shown, config), next };
  const limits = await limitsOf(context, name, shown, { config, inline, plan });
  return { items: await readItems(context, limits), next };
}
