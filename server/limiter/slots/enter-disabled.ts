/** `enter` of a limiter that is switched off: every caller gets a slot, which no row has. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { EnterGranted, EnterOptions } from "../types/enter.js";
import { type Context, report } from "../context/context.js";
import { limitAll } from "../verbs/limit-all.js";
import type { Slots } from "./create-slots.js";
import { checkOptions } from "./enter.js";
import { noSlots } from "./slots-limit.js";

/** @throws the signal's reason when the signal is aborted. */
export async function enterDisabled(
  context: Context,
  slots: Slots | undefined,
  name: string,
  options: EnterOptions = {},
): Promise<EnterGranted> {
  if (slots === undefined) throw noSlots(name);
  checkOptions(options);
  const { signal, with: items = [] } = options;
  const limit = slots.resolve(name, options);
  signal?.throwIfAborted();
  const { results } = await limitAll(context, items);
  const [value, ts] = [limit.slots.slots, context.environment.clock()];
  report(context, "limit", { limit, count: 1 }, { ok: true, value, ts }, false);
  return {
    ok: true,
    value,
    ts,
    results: results as RateLimitResult[],
    // Nothing can take this slot away.
    signal: new AbortController().signal,
    isTakenOver: false,
    during: (response) => response,
    async release() {},
    async [Symbol.asyncDispose]() {},
  };
}
