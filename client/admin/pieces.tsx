/** Pieces that several parts of a control room show: a bar, a countdown, and an override in a word. */
"use client";
import type { ReactElement } from "react";
import { capacityOf, isNever } from "../../core/config.js";
import { useAdmin } from "./admin-context.js";
import type { AdminItem, AdminLimit, AdminOverride, AdminOverrideState } from "./admin-types.js";
import { type Formats } from "./formats.js";
import { Part } from "./part.js";
import { useSecondsUntil } from "./ticker.js";

/** The part of the capacity that is left, as a picture. The words of `leftText` stand beside it. */
export function Bar({ item }: { item: AdminItem }): ReactElement {
  const capacity = capacityOfItem(item);
  return <Part part={capacity > 0 ? leftOf(item) / capacity : 0} />;
}

function capacityOfItem({ config }: AdminItem): number {
  return config.slots ?? capacityOf(config);
}

/** Whole tokens, because a part of a token lets no call pass. A capacity below 1 has parts only. */
function leftOf(item: AdminItem): number {
  return capacityOfItem(item) < 1 ? item.value : Math.floor(item.value + 1e-6);
}

/** Such as `0 of 10`. */
export function leftText(item: AdminItem, { number }: Formats): string {
  return `${number(leftOf(item))} of ${number(capacityOfItem(item))}`;
}

/**
 * The time until a key may go on. The text is alone in its element, so that a translator of the browser
 * can move it.
 */
export function Wait({
  item,
  over,
  say,
}: {
  item: AdminItem;
  /** The text when the wait is over. */
  over: string;
  /** The text of a wait. @default the wait alone */
  say?: (ms: number) => string;
}): ReactElement {
  const { formats } = useAdmin();
  const wait = say ?? formats.wait;
  const { now, retryAfter = 0 } = item;
  const never = isNever(retryAfter);
  const seconds = useSecondsUntil(never || retryAfter === 0 ? undefined : now + retryAfter);
  return (
    <span className="rla-countdown" aria-live="off">
      {never ? wait(retryAfter) : seconds === 0 ? over : wait(seconds * 1000)}
    </span>
  );
}

/** The override that counts, in a few words; nothing where there is none. */
export function OverrideBadge({
  override,
  isPlain = false,
}: {
  override: AdminOverride | undefined;
  /** Whether its key is named elsewhere. */
  isPlain?: boolean;
}) {
  const { formats } = useAdmin();
  if (!override) return null;
  const { blocked, unlimited, plan } = override;
  const kind = blocked ? "banned" : unlimited ? "exempt" : plan === undefined ? "raised" : "plan";
  return (
    <span className="rla-badge" data-kind={kind}>
      {`${override.key === undefined && !isPlain ? "all keys: " : ""}${overrideText(override, formats)}`}
    </span>
  );
}

/** Such as `banned until 16:01`, `2 times until Tue 09:00`, `100 more`. */
export function overrideText(override: AdminOverrideState, formats: Formats): string {
  const { until, times, add, plan } = override;
  const end = until === undefined || isNever(until) ? "" : ` until ${formats.time(until)}`;
  if (override.blocked) return `banned${end}`;
  if (override.unlimited) return `exempt${end}`;
  if (times !== undefined) return `${formats.number(times)} times${end}`;
  if (add !== undefined) return `${formats.number(add)} more${end}`;
  return `${plan === undefined ? "own config" : `plan ${plan}`}${end}`;
}

/** Such as `plan pro: 50 per month`; without plans, the config alone. */
export function configText({ plans, kind }: AdminLimit, item: AdminItem, formats: Formats): string {
  const { plan, config } = item;
  const own = plans?.find((each) => each.plan === plan)?.terms;
  const text = formats.config(typeof own === "string" ? own : config, kind);
  if (!plans) return text;
  return plan === undefined ? `plan unknown, the largest: ${text}` : `plan ${plan}: ${text}`;
}

/** In place of a key, for calls without one. */
export const SHARED = "shared bucket";
