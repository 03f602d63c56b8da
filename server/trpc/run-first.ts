/** `rateLimited.first`: the first of several limits that has the tokens pays for a procedure call. */
import type { MiddlewareFunction } from "./trpc-types.js";
import { countOption } from "../../core/count.js";
import { type ChargedItem, isCostly } from "../hosts/charge-request.js";
import type { LimitFirstResult } from "../limiter/types/limit-first.js";
import type { Usage } from "../limiter/holds/reported-use.js";
import { forgetDecisions } from "./decisions-of-call.js";
import { noteResults } from "./note-results.js";
import type { FirstGranted, RateLimitedFirstOptions } from "./rate-limited-types.js";
import { type Call, type Charging, itemsOf, onceOf, payerOf } from "./items-of-call.js";
import { failureOf, throwingConcealed, withId } from "./run-limited.js";
import { settleQuietly } from "./settle.js";

type Middleware = MiddlewareFunction<object, object, object, object, unknown>;
type Paid = LimitFirstResult & { ok: true };

/** Charges a call, runs its procedure, and gives the tokens back if the call costs nothing. */
export async function chargeFirst(
  charging: Charging,
  { split = false, on = "call" }: RateLimitedFirstOptions<object, unknown, string>,
  call: Call,
): ReturnType<Middleware> {
  const { limiter } = charging;
  const paid = await throwingConcealed(charging, async () => {
    const items = await itemsOf(charging, call);
    const [first] = items as [ChargedItem];
    const given = items.map((item) => payerOf(item, split));
    const once = await onceOf(charging, call);
    const { hold } = charging.options;
    const { ctx: context } = call;
    const options = { ...(split && countOption(first)), split, throws: true, once, hold, context };
    const result = withId((await limiter.limitFirst(given, options)) as Paid, { hold }, once);
    const { entries } = charging;
    return { result, noted: noteResults(charging, entries, items, [result], call.getRawInput) };
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
