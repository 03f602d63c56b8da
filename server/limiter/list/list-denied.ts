/**
 * `list(name, { denied: true })`: the keys that are limited now. The keys that an override blocks come
 * first, from memory, because they may have no rows. The other keys are found by reading rows.
 */
import { calculateRateLimit } from "../../../core/calculate.js";
import { capacityOf, type Bucket } from "../../../core/config.js";
import { describe, RateLimitInputError } from "../../../core/errors.js";
import { waitUntil } from "../limits/overrides/override-rule.js";
import {
  cursorOf,
  keyOfCursor,
  limitsOf,
  type ListContext,
  listKeys,
  readItems,
} from "./list-rows.js";
import type { LimitItem, LimitPage } from "../types/list.js";
import type { OverriddenAnswer } from "../limits/resolved-limit.js";

interface DeniedOptions {
  config: Bucket;
  inline: Bucket | undefined;
  plan: string | undefined;
  after: string | undefined;
  count: number;
}

/** The marks of cursors: for the last blocked key, and for the last key whose rows were read. */
const BLOCKED = "b";
const ROWS = "k";
/** The cursor of the start of the rows. */
const FIRST_ROW = "r";

/**
 * The most keys whose rows are read at a time, and for one page. The first read is of one key more than a
 * page has: where all keys are limited, that is enough.
 */
const KEYS_AT_ONCE = 1000;
const KEYS_PER_PAGE = 20_000;

export async function listDenied(
  context: ListContext,
  name: string,
  options: DeniedOptions,
): Promise<LimitPage> {
  const { after, count } = options;
  if (after !== undefined && !isPosition(after)) throw notAPosition(after);
  const blocked = (await context.overriding?.blockedKeys(name)) ?? { all: false, keys: [] };
  const items: LimitItem[] = [];
  if (after === undefined || after.startsWith(BLOCKED)) {
    const last = after === undefined ? undefined : keyOfCursor(after, BLOCKED);
    const keys = blocked.keys.filter((key) => last === undefined || key > last);
    const shown = keys.slice(0, count);
    items.push(...(await deniedItems(context, name, shown, options)));
    if (keys.length > count) return { items, next: cursorOf(shown.at(-1)!, BLOCKED) };
    if (items.length >= count) return { items, next: FIRST_ROW };
  }
  const isRow = after?.startsWith(ROWS) === true;
  const known = new Set(blocked.keys);
  let last = isRow ? keyOfCursor(after) : undefined;
  let atOnce = Math.min(KEYS_AT_ONCE, count + 1);
  for (let looked = 0; looked < KEYS_PER_PAGE; looked += atOnce) {
    if (looked > 0) atOnce = KEYS_AT_ONCE;
    const keys = await listKeys(context, name, last, atOnce, options.config.shards ?? 1);
    const found = await deniedItems(
      context,
      name,
      keys.filter((key) => !known.has(key)),
      options,
    );
    const missing = count - items.length;
    items.push(...found.slice(0, missing));
    if (found.length > missing) return { items, next: cursorOf(items.at(-1)?.key ?? "") };
    if (keys.length < atOnce) return { items, next: undefined };
    last = keys.at(-1)!;
  }
  return { items, next: cursorOf(last!) };
}

function isPosition(after: unknown): boolean {
  return typeof after === "string" && (after === FIRST_ROW || /^[bk]/.test(after));
}

function notAPosition(after: unknown): RateLimitInputError {
  const message = `after must be the next of another page with denied: true, got ${describe(after)}`;
  return new RateLimitInputError("key", message);
}

/** The items of the keys for which a call for one token would be denied. */
async function deniedItems(
  context: ListContext,
  name: string,
  keys: readonly string[],
  options: DeniedOptions,
): Promise<LimitItem[]> {
  const limits = await limitsOf(context, name, keys, options);
  const items = await readItems(context, limits);
  return items.flatMap((item, i) => {
    const retryAfter = waitForOne(limits[i]!.answer, item);
    return retryAfter === undefined ? [] : [{ ...item, retryAfter }];
  });
}

/** ms until a call for one token would pass; `undefined` where it passes now. */
export function waitForOne(
  answer: Pick<OverriddenAnswer, "kind" | "until"> | undefined,
  item: LimitItem,
): number | undefined {
  if (answer === undefined) return waitOf(item);
  return answer.kind === "blocked" ? waitUntil(answer.until, item.now) : undefined;
}

/**
 * ms until a call for one token would pass, by the tokens. For a capacity below one token: ms until the
 * limit is full.
 */
function waitOf({ value, ts, config, now }: LimitItem): number | undefined {
  const count = Math.min(1, capacityOf(config));
  return calculateRateLimit({ value, ts }, config, now, count).retryAfter;
}
