/** `enter`: takes a slot, alone or together with tokens, at once or after a wait in line. */
import { RateLimitConfigError, RateLimitError, RateLimitStoreError } from "../../../core/errors.js";
import { MAX_NONCE, slotsConfig } from "../../../core/rows/slot.js";
import type { LimitAllItem, LimitAllOptions, LimitAllResult } from "../types/limit-all.js";
import type { PlanOptions } from "../types/call.js";
import { type Context, report } from "../context/context.js";
import { ClaimDecision } from "../claims/draft.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { answerAll, claimAll, requestsOf } from "../verbs/limit-all.js";
import { decideReclaiming } from "../holds/reclaim.js";
import { EnterDenied, type EnterOptions, type EnterResult } from "../types/enter.js";
import { HeldSlot, type SlotsContext } from "./hold.js";
import { nonceOfHolder, validateHolder } from "./holder-id.js";
import { type LineContext, waitInLine } from "./line.js";
import { EnterClaim, type Entered, type SlotAndTokens, slotAndTokens } from "./slot-decisions.js";
import type { ResolveSlots, SlotsLimit } from "./slots-limit.js";

const ENTER_OPTIONS = namesOf<EnterOptions & PlanOptions>({
  key: true,
  holder: true,
  plan: true,
  config: true,
  maxWait: true,
  signal: true,
  onPlace: true,
  with: true,
  throws: true,
});

export interface EnterContext extends SlotsContext, LineContext {
  /** Takes the tokens of `with` together with a slot. */
  readonly limiter: Context;
  /** Takes the tokens of `with` after a wait for a slot. Waits for the table of overrides first. */
  readonly limitAll: (
    items: readonly LimitAllItem[],
    options: LimitAllOptions,
  ) => Promise<LimitAllResult>;
  readonly resolveSlots: ResolveSlots;
}

type Denied = Extract<Entered, { kind: "denied" }>;

/**
 * @throws RateLimitError for a denied call with `throws`.
 * @throws the signal's reason when the signal is aborted; then no slot is held.
 */
export async function enter(
  context: EnterContext,
  name: string,
  options: EnterOptions = {},
): Promise<EnterResult> {
  rejectUnknownOptions(options, ENTER_OPTIONS, "enter()");
  const { holder, maxWait, signal, onPlace, with: items = [], throws = false } = options;
  if (holder !== undefined) validateHolder(holder);
  if (maxWait !== undefined && !(maxWait >= 0)) {
    throw new RateLimitConfigError("maxWait", maxWait, "a number of ms of at least 0");
  }
  if (onPlace !== undefined && typeof onPlace !== "function") {
    throw new RateLimitConfigError("onPlace", onPlace, "a function");
  }
  const limit = context.resolveSlots(name, options);
  signal?.throwIfAborted();

  const { limiter, environment } = context;
  const nonce =
    holder === undefined ? 1 + Math.floor(environment.random() * MAX_NONCE) : nonceOfHolder(holder);
  const slot = new EnterClaim(limit, nonce, environment, holder !== undefined);
  let sentAt = performance.now();
  let entered: Entered;
  let tokens: LimitAllResult = { ok: true, results: [] };
  if (items.length === 0) {
    const decision = new ClaimDecision(slot, environment.clock);
    entered = await new Promise<Entered>((done, failed) =>
      limiter.ask({ toDecision: () => decision, done, failed }),
    );
  } else {
    const requests = requestsOf(limiter, items);
    const claim = slotAndTokens(slot, claimAll(requests, environment));
    const limits = requests.map(({ limit: of }) => of);
    const isDenied = (answers: SlotAndTokens) => !answers.tokens.ok;
    const tokensOf = (answers: SlotAndTokens) => answers.tokens;
    const { answer: answers, decision } = await decideReclaiming(
      limiter,
      claim,
      limits,
      isDenied,
      tokensOf,
    );
    entered = answers.slot;
    const answer = answers.tokens;
    // Where there are enough tokens, but no slot, no tokens are taken.
    if (entered.kind === "entered" || !answer.ok) {
      tokens = answerAll(limiter, requests, answer, decision.now, { throws });
    }
    if (!tokens.ok) return refused(tokens);
  }

  let held: HeldSlot | undefined;
  if (entered.kind === "line" || (entered.kind === "denied" && maxWait !== undefined)) {
    const isNamed = holder !== undefined;
    const wait = { maxWait: maxWait ?? 0, signal, onPlace, isNamed };
    ({ entered, sentAt } = await waitInLine(context, limit, nonce, wait));
    if (entered.kind === "entered" && items.length > 0) {
      held = hold(context, limit, entered, sentAt);
      try {
        tokens = await context.limitAll(items, { throws });
      } catch (error) {
        await held.release();
        throw error;
      }
      if (!tokens.ok) {
        await held.release();
        return refused(tokens);
      }
    }
  }
  if (entered.kind !== "entered") return denied(context, limit, entered as Denied, throws);
  held ??= hold(context, limit, entered, sentAt);
  if (held.isLate) {
    // The process stood still, or the store was slow.
    await held.release();
    const message = `the rate limit store answered after the ttl of a slot of "${name}" had passed`;
    throw new RateLimitStoreError(message, { isOutage: false });
  }
  held.results = tokens.results;
  const { value, ts } = held;
  report(limiter, "limit", { limit, count: 1 }, { ok: true, value, ts }, true);
  return held;
}

function hold(
  context: EnterContext,
  limit: SlotsLimit,
  { holder, value, now }: Extract<Entered, { kind: "entered" }>,
  sentAt: number,
): HeldSlot {
  return new HeldSlot(context, limit, holder, sentAt, value, now);
}

/** There are not enough tokens for the call. */
function refused({
  name,
  retryAfter,
  results,
}: Extract<LimitAllResult, { ok: false }>): EnterDenied {
  return new EnterDenied(name, retryAfter, 0, results);
}

/** There is no slot for the call. */
function denied(
  { limiter }: EnterContext,
  limit: SlotsLimit,
  { retryAfter, value, ends, now }: Denied,
  throws: boolean,
): EnterDenied {
  const { name, slots } = limit;
  report(limiter, "limit", { limit, count: 1 }, { ok: false, retryAfter, value }, false);
  if (!throws) return new EnterDenied(name, retryAfter, value, []);
  const config = slotsConfig(slots, ends);
  const data = { kind: "RateLimited", name, retryAfter, value, config, now } as const;
  throw new RateLimitError(data, limiter.environment.denialMessage);
}
