/** `rateLimited.first`: the first of several limits that has the tokens pays for a procedure call. */
import type { MiddlewareFunction } from "./trpc-types.js";
import { countOption } from "../../core/count.js";
import { keyOption } from "../../core/key-option.js";
import { isCostly } from "../hosts/charge-request.js";
import type { LimitAllItem } from "../limiter/call-options.js";
import type { LimitFirstResult } from "../limiter/limit-first-options.js";
import type { Usage } from "../limiter/reported-use.js";
import { forgetDecisions } from "./decisions-of-call.js";
import { noteResults } from "./note-results.js";
import type { FirstGranted, RateLimitedFirstOptions } from "./rate-limited-types.js";
import {
  type Call,
  type Charging,
  failureOf,
  itemsOf,
  onceOf,
  throwingConcealed,
  withId,
} from "./run-limited.js";
import { settleQuietly } from "./settle.js";

type Middleware = MiddlewareFunction<object, object, object, object, unknown>;
type Paid = LimitFirstResult & { ok: true };

/** Has a call paid for, runs its procedure, and gives the tokens back if the call costs nothing. */
export async function chargeFirst(
  charging: Charging,
  { split = false, on = "call" }: RateLimitedFirstOptions<object, unknown>,
  call: Call,
): ReturnType<Middleware> {
  const { limiter } = charging;
  const paid = await throwingConcealed(charging, async () => {
    const items = await itemsOf(charging, call);
    const [first] = items as [LimitAllItem];
    const given = items.map((item) => itemOf(item, split));
    const once = await onceOf(charging, call);
    const { hold } = charging.options;
    const options = { ...(split && countOption(first)), split, throws: true, once, hold };
    const result = withId((await limiter.limitFirst(given, options)) as Paid, { hold }, once);
    return { result, noted: noteResults(charging, items, result.results, call.getRawInput) };
  });
  const settle = (actual: Usage) => settleQuietly(limiter, paid.result, actual);
  const rateLimit = Object.defineProperty(paid.result, "settle", { value: settle });
  const result = await call.next({ ctx: { rateLimit: rateLimit as FirstGranted<string> } });
  if (!isCostly({ on, resetOnSuccess: false }, failureOf(result))) {
    forgetDecisions(call.getRawInput, paid.noted);
    // A store that fails now must not change the answer of the procedure. The tokens stay taken.
    await Promise.allSettled([limiter.settle(paid.result, 0)]);
  }
  return result;
}

/** Limits that pay together have one count, that of the call. */
function itemOf({ name, key, config, ...item }: LimitAllItem, split: boolean) {
  return { name, ...keyOption(key), config, ...(!split && countOption(item)) };
}
