/** Shows one key under all limits: its buckets, rows, holds, slots, overrides and usage. */
import { DAY } from "../../../core/durations.js";
import { keyOption } from "../../../core/key-option.js";
import { usageTerms } from "../../../core/rows/usage.js";
import { waits } from "../../../core/rows/seat.js";
import { allRows } from "../../limiter/claims/choose-shards.js";
import { listHolds } from "../../limiter/holds/list-holds.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { beneathAnswer } from "../../limiter/limits/overrides/overridden-answer.js";
import { resolve as resolveSlots } from "../../limiter/slots/slots-limit.js";
import { storedRows } from "../../limiter/context/stored-rows.js";
import { readUsage } from "../../limiter/verbs/read-usage.js";
import type { AdminItem, AdminKeyLimit, AdminSlots } from "./admin-types.js";
import { readItem, slotsOf } from "./read-items.js";
import type { DecisionRecorder } from "./recorder.js";
import { type Uses, wholeSpans } from "./show-usage.js";
import { withSince } from "./since.js";

/** The most holds that are shown of one limit. */
const SHOWN_HOLDS = 200;

export interface KeyParts {
  operator: Operator;
  limiter: Pick<Uses, "flushUsage">;
  recorder: DecisionRecorder;
}

/**
 * The reads of all limits start at the same time, so a store sends them together.
 *
 * @param key the stored key; `undefined` for the shared bucket.
 * @param given the same key as the application knows it, if known.
 */
export async function showKey<TName extends string>(
  parts: KeyParts,
  names: readonly TName[],
  key: string | undefined,
  given: string | undefined,
): Promise<AdminKeyLimit<TName>[]> {
  const { operator, limiter } = parts;
  // Write the usage that this process has counted, so that it is shown, too.
  await limiter.flushUsage();
  const all = (await operator.overriding?.allNow()) ?? [];
  const shown = names.map(async (name) => {
    const overrides = all.filter((each) => each.name === name && each.key === key).toReversed();
    const limit = await showLimit(parts, name, key, await operator.planOf(name, key, given));
    return limit && { name, ...limit, ...(overrides.length > 0 && { overrides }) };
  });
  return (await Promise.all(shown)).flatMap((limit) => limit ?? []);
}

type Shown = Omit<AdminKeyLimit, "name" | "overrides">;

/** `undefined` for a limit that cannot have the key. */
async function showLimit(
  { operator, recorder }: KeyParts,
  name: string,
  key: string | undefined,
  plan: string | undefined,
): Promise<Shown | undefined> {
  if (!mayHave(operator, name, key)) return undefined;
  const item = readItem(operator, name, key, plan).then(async (read) => {
    const [only] = await withSince(operator, recorder, name, [read]);
    return only!;
  });
  if (operator.slotConfigs.has(name)) return showSlots(operator, name, key, await item);
  const { configs, context, store, resolve, clock } = operator;
  const of = keyOption(key);
  const { holds, usage } = configs.get(name)!;
  const now = clock();
  const rows = storedRows(context, allRows(beneathAnswer(resolve(name, { ...of, plan }))));
  const held = holds && store.list ? listHolds(context, store, name, of) : undefined;
  const day = (every: number) => wholeSpans(every, { from: now - DAY, to: now });
  const used = usage
    ? readUsage(context, name, { ...of, ...day(usageTerms(usage).every) })
    : undefined;
  const read = await Promise.all([item, rows, held, used]);
  return {
    item: read[0],
    rows: read[1],
    ...(read[2] && { holds: read[2].slice(0, SHOWN_HOLDS) }),
    ...(read[3] && { usage: read[3].items }),
  };
}

/** The keys of a limit with usage are shorter than others. */
function mayHave({ resolve, slotConfigs }: Operator, name: string, key: string | undefined) {
  if (slotConfigs.has(name)) return true;
  try {
    resolve(name, keyOption(key));
    return true;
  } catch (error) {
    if ((error as Error).name === "RateLimitInputError") return false;
    throw error;
  }
}

async function showSlots(
  operator: Operator,
  name: string,
  key: string | undefined,
  item: AdminItem,
): Promise<Shown> {
  // Read the slots of the largest plan: calls that entered under a larger plan may still hold their
  // slots.
  const limit = resolveSlots(name, key, key, operator.slotConfigs.get(name)!);
  const [rows, seats, whole] = await Promise.all([
    storedRows(operator.context, limit.rows),
    storedRows(operator.context, limit.seats()),
    item.plan === undefined ? item : readItem(operator, name, key, undefined),
  ]);
  const { starts = [] } = whole.config as { starts?: readonly number[] };
  const slots: AdminSlots = {
    slots: slotsOf(operator, name, item.plan)!.slots,
    holders: [...starts],
    waiting: seats.filter((seat) => waits(seat, limit.seatTtl, item.now)).length,
  };
  return { item, rows, slots };
}
