/**
 * Shows how much of a limit was used over time: from the rows of usage, or from the decisions of this
 * process.
 */
import { MINUTE } from "../../../core/durations.js";
import { spanAt, usageTerms } from "../../../core/rows/usage.js";
import type { Operator } from "../../limiter/parts/operator.js";
import { lengthOfItem, spansOf } from "../../limiter/verbs/usage-bounds.js";
import type { UsageOptions, UsageReport } from "../../limiter/types/usage.js";
import type { AdminUsage, AdminUsageItem } from "./usage-types.js";
import type { DecisionRecorder } from "./recorder.js";

/** The part of a limiter that reads usage. */
export interface Uses {
  usage(name: string, options: UsageOptions): Promise<UsageReport>;
  flushUsage(): Promise<void>;
}

interface Span {
  from: number;
  to: number;
  every?: number | undefined;
}

/** @throws RateLimitConfigError for spans that cannot be read, quoting the option. */
export async function showUsage(
  { configs, clock }: Pick<Operator, "configs" | "clock">,
  limiter: Uses,
  recorder: DecisionRecorder,
  name: string,
  span: Span,
): Promise<AdminUsage> {
  const { usage } = configs.get(name) ?? {};
  if (!usage) {
    return {
      items: ofProcess(recorder, name, span),
      source: "process",
      since: recorder.minutesSince,
    };
  }
  const { every, keep } = usageTerms(usage);
  const { items } = await limiter.usage(name, wholeSpans(every, span));
  return { items, source: "usage", since: Math.max(0, spanAt(every, clock() - keep)) };
}

function ofProcess(
  recorder: DecisionRecorder,
  name: string,
  { every, ...span }: Span,
): AdminUsageItem[] {
  const { from, to } = wholeSpans(MINUTE, span);
  const [first, end] = spansOf({ every: MINUTE }, from, to);
  const each = lengthOfItem({ every: MINUTE }, every);
  const items: AdminUsageItem[] = [];
  for (let start = first; start < end; start += each) {
    const item = { start, end: Math.min(start + each, end), ...NOTHING };
    for (let minute = start; minute < item.end; minute += MINUTE) {
      const counted = recorder.minute(name, minute) ?? NOTHING;
      item.granted += counted.granted;
      item.denied += counted.denied;
      item.taken += counted.taken;
    }
    items.push(item);
  }
  return items;
}

/** The spans that the instants are in. A control room asks for a time until now. */
export function wholeSpans<TSpan extends Span>(every: number, { from, to, ...span }: TSpan) {
  // An end before the start is refused later, as it was given.
  return { ...span, from: spanAt(every, from), to: from < to ? -spanAt(every, -to) : from };
}

const NOTHING = { granted: 0, denied: 0, taken: 0, givenBack: 0 };
