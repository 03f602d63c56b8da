/** Enters a slot for a procedure call, together with the tokens of its other limits. */
import { keyOption } from "../../core/key-option.js";
import type { ChargedItem, GivenItem, Taken } from "../hosts/charge-request.js";
import type { ItemResult } from "../limiter/types/limit-all.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type { EnterGranted, EnterOptions } from "../limiter/types/enter.js";

type Slot = EnterGranted<readonly ItemResult[]>;

/**
 * @param isList whether the procedure names its limits in a list.
 * @throws RateLimitError for a denied call.
 */
export async function enterForCall(
  limiter: Pick<UntypedRateLimiter, "enter">,
  isList: boolean,
  slots: string,
  items: readonly GivenItem[],
  options: Pick<EnterOptions, "holder" | "maxWait" | "signal" | "context">,
): Promise<Taken & { slot: Slot }> {
  const own = items.find((item): item is ChargedItem => "name" in item && item.name === slots)!;
  const slot = (await limiter.enter(slots, {
    ...keyOption(own.key),
    config: own.config as EnterOptions["config"],
    plan: own.plan,
    with: items.filter((item) => item !== own),
    ...options,
    throws: true,
  })) as Slot;
  const disabled = slot.disabled && { disabled: slot.disabled };
  const entered = { ok: true, value: slot.value, ts: slot.ts, ...disabled } as const;
  const tokens = slot.results.values();
  const results = items.map((item) => (item === own ? entered : tokens.next().value!));
  const granted = isList ? { ok: true as const, results, ...disabled } : { ...entered };
  // Make `signal` not enumerable, so that a procedure can still return the decision to its client.
  Object.defineProperty(granted, "signal", { value: slot.signal });
  return { slot, granted, results };
}
