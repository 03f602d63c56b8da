/** The work of the middleware around a procedure: takes tokens, and gives tokens back or keeps them. */
import { TRPCError } from "@trpc/server";
import type { MiddlewareFunction } from "./trpc-types.js";
import { type ChargedItem, giveBack, isCostly, take, type Taken } from "../hosts/charge-request.js";
import type { UntypedRateLimiter } from "../limiter/types/untyped.js";
import type { EnterGranted } from "../limiter/types/enter.js";
import { forgetDecisions, type NotedDecision } from "./decisions-of-call.js";
import { concealed, toPublicError, toTransactionError } from "./errors.js";
import {
  type Call,
  type Charging,
  givenItems,
  itemsOf,
  onceOf,
  perEntry,
} from "./items-of-call.js";
import type { ChargeOnErrorOptions, RateLimitedOptions } from "./rate-limited-types.js";
import { enterForCall } from "./enter-for-call.js";
import { releasedAfter } from "./hold-slot.js";
import { noteResults } from "./note-results.js";
import { withSettle } from "./settle.js";
import { rolledBack } from "./validate-rate-limited.js";
import { keyOption } from "../../core/key-option.js";

type Middleware = MiddlewareFunction<object, object, object, object, unknown>;
type Options = RateLimitedOptions<object, unknown, string>;

interface TakenForCall extends Taken {
  /** The slot that the call holds, if one of its limits has slots. */
  slot: Pick<EnterGranted, "release" | "signal" | "isTakenOver"> | undefined;
  noted: readonly NotedDecision[];
}

/**
 * Charges a call and runs its procedure. A call with a slot holds the slot as long as the procedure runs.
 */
export async function charge(
  charging: Charging,
  options: ChargeOnErrorOptions,
  call: Call,
): ReturnType<Middleware> {
  const { limiter } = charging;
  const taken = await throwingConcealed(charging, async () => {
    const charged = await itemsOf(charging, call);
    const once = await onceOf(charging, call);
    return { items: charged, ...(await takeNoted(limiter, charging, charged, call, once)) };
  });
  const { slot } = taken;
  if (slot === undefined) return runCharged(charging, options, call, taken);
  try {
    const result = await runCharged(charging, options, call, taken);
    const isSubscription = call.type === "subscription";
    const { key, plan, config } = taken.items.find(({ name }) => name === charging.slots)!;
    const shown = limiter.configOf(charging.slots!, { ...keyOption(key), plan, config });
    const patience = shown.period as number;
    return await releasedAfter(result, slot, { signal: call.signal, isSubscription, patience });
  } catch (error) {
    // A function of the application has failed. Release the slot, or it is renewed for ever.
    await slot.release();
    throw error;
  }
}

/** Runs the procedure of a call that has its tokens, and gives them back if the call costs nothing. */
async function runCharged(
  charging: Charging,
  { on = "call", resetOnSuccess = false }: ChargeOnErrorOptions,
  call: Call,
  { items, granted, results, noted }: TakenForCall & { items: readonly ChargedItem[] },
): ReturnType<Middleware> {
  const { limiter } = charging;
  const result = await call.next({ ctx: { rateLimit: granted } });
  if (isCostly({ on, resetOnSuccess }, failureOf(result))) return result;
  forgetDecisions(call.getRawInput, noted);
  const isReset = result.ok && resetOnSuccess;
  const charges = perEntry(charging.entries, items).map(({ items: [item] }, i) => {
    return { ...item!, result: results[i]!, isReset };
  });
  await giveBack(
    limiter,
    charges.filter(({ name }) => name !== charging.slots),
  );
  return result;
}

/** `undefined` if the procedure has succeeded. */
export function failureOf(result: Awaited<ReturnType<Middleware>>): TRPCError | undefined {
  return result.ok ? undefined : result.error;
}

/** Charges a call and runs its procedure in one transaction. */
export async function chargeInTransaction(charging: Charging, call: Call): ReturnType<Middleware> {
  if (call.type === "subscription") {
    throw new TRPCError({
      code: "METHOD_NOT_SUPPORTED",
      message: `Subscription "${call.path}" cannot run in a transaction, which it would outlive`,
    });
  }
  let once: string | undefined;
  const items = await throwingConcealed(charging, async () => {
    once = await onceOf(charging, call);
    const charged = await itemsOf(charging, call);
    const closing = charged.find(({ config }) => config?.blockFor !== undefined);
    if (closing !== undefined) throw rolledBack(closing.name);
    return charged;
  });
  let failure: Awaited<ReturnType<Middleware>> | undefined;
  let noted: readonly NotedDecision[] = [];
  try {
    return await charging.limiter.transaction(async ({ tx, ...scope }) => {
      // The charges of an earlier try were rolled back.
      forgetDecisions(call.getRawInput, noted);
      const taken = await takeNoted(scope, charging, items, call, once);
      noted = taken.noted;
      const result = await call.next({ ctx: { rateLimit: taken.granted, tx } });
      if (result.ok) return result;
      // Throw, so that the transaction is rolled back, and retried if the error was a conflict.
      failure = result;
      throw result.error;
    });
  } catch (error) {
    forgetDecisions(call.getRawInput, noted);
    if (failure?.ok === false && failure.error === error) return failure;
    throw concealed(toTransactionError(error), charging.hidden);
  }
}

/** Runs `work`. Its errors become `TRPCError`s that name no hidden limit. */
export async function throwingConcealed<TResult>(
  { hidden }: Charging,
  work: () => Promise<TResult>,
): Promise<TResult> {
  try {
    return await work();
  } catch (error) {
    throw concealed(toPublicError(error), hidden);
  }
}

/** Tells a procedure the id under which its tokens are held. */
export function withId<TGranted extends object>(
  granted: TGranted,
  { hold }: Pick<Options, "hold">,
  once: string | undefined,
): TGranted {
  // Make `once` not enumerable, so that a procedure can still return the decision to its client.
  return hold === undefined ? granted : Object.defineProperty(granted, "once", { value: once });
}

async function takeNoted(
  limits: Pick<UntypedRateLimiter, "limit" | "limitAll" | "settle">,
  { limiter, entries, isList, hidden, slots, options }: Charging,
  items: readonly ChargedItem[],
  { getRawInput, signal, ctx, input, path, type }: Call,
  once: string | undefined,
): Promise<TakenForCall> {
  const given = givenItems(entries, items);
  const { slot, granted, results } =
    slots === undefined
      ? {
          slot: undefined,
          ...(await take(limits, given, { isList, once, hold: options.hold, context: ctx })),
        }
      : await enterForCall(limiter, isList, slots, given, {
          holder: options.holder?.({ name: slots, ctx, input, path, type }),
          maxWait: options.maxWait,
          signal,
          context: ctx,
        });
  const noted = noteResults({ limiter, hidden }, entries, items, results, getRawInput);
  const own = isList ? entries : undefined;
  withId(withSettle(limits, granted, own, limits !== limiter), options, once);
  return { granted, results, noted, slot };
}
