/** `settle` of an answer of `limitAll`. The holds of the call end in one decision: all of them, or none. */
import { validateCount } from "../../../core/count.js";
import type { Receipt } from "../claims/receipt.js";
import type { Context } from "../context/context.js";
import {
  endingOf,
  isMissing,
  type Usage,
  type UsageByName,
  validateByName,
  warnOf,
} from "../holds/reported-use.js";
import { endHoldsBy } from "../holds/settle-hold.js";
import type { ItemResult, LimitAllResult } from "../types/limit-all.js";
import type { SettleResult } from "../types/settle.js";
import { isPayment } from "./refund.js";
import { receiptToSettle, settle } from "./settle.js";

/** An answer of `limitAll`, with results of any items. */
export type AnyAnswer = LimitAllResult<readonly ItemResult[]>;

/** Whether a value is a granted answer of `limitAll`, or looks like such an answer. */
export function isAnswerOfAll(value: unknown): value is AnyAnswer & { ok: true } {
  const { ok, results } = Object(value) as { ok?: unknown; results?: unknown };
  return ok === true && Array.isArray(results) && !isPayment(value);
}

/** @param actual of each item, or counts by the names of the limits. */
export async function settleAll(
  context: Context,
  { results }: AnyAnswer,
  actual: Usage | UsageByName,
): Promise<SettleResult> {
  const items = results.map((result) => {
    const receipt = receiptToSettle(context.environment, result);
    return { result, receipt, names: receipt.memory.names ?? [receipt.limit.name] };
  });
  const counts = countsOf(
    items.map(({ names }) => names),
    actual,
  );
  for (const count of counts) if (!isMissing(count)) validateCount(count);
  const all = items.map((item, i) => ({ ...item, count: counts[i] }));
  const held = all.filter(({ receipt }) => receipt.holds.length > 0);
  const others = all.filter(({ receipt }) => receipt.holds.length === 0);
  const settled = await Promise.all([
    settleHolds(context, held),
    ...others.map(async ({ result, count }) => (await settle(context, result, count)).settled),
  ]);
  return { settled: settled.every(Boolean) };
}

async function settleHolds(
  context: Context,
  held: readonly { receipt: Receipt; count: Usage }[],
): Promise<boolean> {
  if (held.length === 0) return true;
  const unknown = held.filter(({ count }) => isMissing(count));
  for (const { receipt, count } of unknown) warnOf(context, receipt.limit.name, count);
  const holds = held.flatMap(({ receipt }) => receipt.holds);
  const endings = held.flatMap(({ receipt, count }) => receipt.holds.map(() => endingOf(count)));
  const ended = await endHoldsBy(context, holds, endings);
  return unknown.length === 0 && ended.every(({ ok }) => ok);
}

/** The use of each item, by the names of the limits that each may have charged. */
function countsOf(
  items: readonly (readonly string[])[],
  actual: Usage | UsageByName,
): readonly Usage[] {
  if (isMissing(actual) || typeof actual === "number") return items.map(() => actual);
  validateByName(actual, items);
  return items.map((names) => {
    const name = names.find((each) => Object.hasOwn(actual, each));
    return name === undefined ? undefined : actual[name];
  });
}
