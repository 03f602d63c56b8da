/** `enter`: takes a slot, alone or together with tokens, at once or after a wait in line. */
import { RateLimitConfigError, RateLimitError, RateLimitStoreError } from "../../../core/errors.js";
import { MAX_NONCE, slotsConfig } from "../../../core/rows/slot.js";
import type { ItemResult, LimitAllOptions, LimitAllResult } from "../types/limit-all.js";
import type { PlanOptions } from "../types/call.js";
import { type Context, report } from "../context/context.js";
import { ClaimDecision } from "../claims/draft.js";
import { namesOf, rejectUnknownOptions } from "../types/known-options.js";
import { answerAll, claimAll, type GivenItems, itemsOf, limitsOf } from "../verbs/limit-all.js";
import { decideReclaiming } from "../holds/reclaim.js";
import { EnterDenied, type EnterOptions, type EnterResult } from "../types/enter.js";
import { HeldSlot, type SlotsContext } from "./hold.js";
import { nonceOfHolder, validateHolder } from "./holder-id.js";
import { type LineContext, waitInLine } from "./line.js";
import { EnterClaim, type Entered, slotAndTokens } from "./slot-decisions.js";
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
  context: true,
});

export interface EnterContext extends SlotsContext, LineContext {
  /** Takes the tokens of `with` together with a slot. */
  readonly limiter: Context;
  /** Takes the tokens of `with` after a wait for a slot. Waits for the table of overrides first. */
  readonly limitAll: (items: GivenItems, options: LimitAllOptions) => Promise<TokensResult>;
  readonly resolveSlots: ResolveSlots;
}

type Denied = Extract<Entered, { kind: "denied" }>;
type TokensResult = LimitAllResult<ItemResult[]>;
type Result = EnterResult<readonly ItemResult[]>;

/** A call, and its options as they were when they were checked. */
interface EnterCall extends EnterOptions {
  readonly parts: EnterContext;
  readonly limit: SlotsLimit;
  /** The nonce of the slot's holder. */
  readonly nonce: number;
}

/**
 * @throws RateLimitError for a denied call with `throws`.
 * @throws the signal's reason when the signal is aborted; then no slot is held.
 */
export async function enter(
  context: EnterContext,
  name: string,
  options: EnterOptions = {},
): Promise<Result> {
  checkOptions(options);
  const { holder, maxWait, signal, with: items = [] } = options;
  const limit = context.resolveSlots(name, options);
  signal?.throwIfAborted();
  const { environment } = context;
  const nonce =
    holder === undefined ? 1 + Math.floor(environment.random() * MAX_NONCE) : nonceOfHolder(holder);
  const call: EnterCall = { ...options, parts: context, limit, nonce };
  const sentAt = performance.now();
  const { entered, tokens } = await (items.length === 0 ? takeSlot(call) : takeAll(call, items));
  if (tokens?.ok === false) return refused(tokens);
  if (entered.kind === "line" || (entered.kind === "denied" && maxWait !== undefined)) {
    return enterByLine(call, items);
  }
  if (entered.kind !== "entered") return denied(call, entered as Denied);
  return holding(call, hold(call, entered, sentAt), tokens?.results);
}

/** @throws RateLimitConfigError for an option that does not exist or makes no sense. */
export function checkOptions(options: EnterOptions): void {
  rejectUnknownOptions(options, ENTER_OPTIONS, "enter()");
  const { holder, maxWait, onPlace } = options;
  if (holder !== undefined) validateHolder(holder);
  if (maxWait !== undefined && !(maxWait >= 0)) {
    throw new RateLimitConfigError("maxWait", maxWait, "a number of ms of at least 0");
  }
  if (onPlace !== undefined && typeof onPlace !== "function") {
    throw new RateLimitConfigError("onPlace", onPlace, "a function");
  }
}

function claimOf({ parts, limit, nonce, holder }: EnterCall): EnterClaim {
  return new EnterClaim(limit, nonce, parts.environment, holder !== undefined);
}

interface Taken {
  entered: Entered;
  /** `undefined` where no tokens were wanted, or there are enough but no slot. */
  tokens?: TokensResult;
}

async function takeSlot(call: EnterCall): Promise<Taken> {
  const { limiter, environment } = call.parts;
  const decision = new ClaimDecision(claimOf(call), environment.clock);
  const entered = await new Promise<Entered>((done, failed) =>
    limiter.ask({ toDecision: () => decision, done, failed }),
  );
  return { entered };
}

/** Takes a slot and the tokens of `with`, or nothing. */
async function takeAll(call: EnterCall, given: GivenItems): Promise<Taken> {
  const { parts, throws = false, context } = call;
  const { limiter, environment } = parts;
  const slot = claimOf(call);
  const items = itemsOf(limiter, given, context);
  const { answer, decision } = await decideReclaiming(
    limiter,
    slotAndTokens(slot, claimAll(items, environment)),
    limitsOf(items),
    ({ tokens }) => !tokens.ok,
    ({ tokens }) => tokens,
  );
  const { slot: entered, tokens } = answer;
  // Where there are enough tokens, but no slot, no tokens are taken.
  if (entered.kind !== "entered" && tokens.ok) return { entered };
  return { entered, tokens: answerAll(limiter, items, tokens, decision.now, { throws }) };
}

/** Waits in line for a slot. Takes the tokens of `with` once it has the slot. */
async function enterByLine(call: EnterCall, items: GivenItems): Promise<Result> {
  const { parts, limit, nonce, holder, maxWait = 0, signal, onPlace } = call;
  const { throws = false, context } = call;
  const wait = { maxWait, signal, onPlace, isNamed: holder !== undefined };
  const { entered, sentAt } = await waitInLine(parts, limit, nonce, wait);
  if (entered.kind !== "entered") return denied(call, entered as Denied);
  const held = hold(call, entered, sentAt);
  if (items.length === 0) return holding(call, held);
  let tokens: TokensResult;
  try {
    tokens = await parts.limitAll(items, { throws, context });
  } catch (error) {
    await held.release();
    throw error;
  }
  if (tokens.ok) return holding(call, held, tokens.results);
  await held.release();
  return refused(tokens);
}

function hold(
  { parts, limit }: EnterCall,
  { holder, value, now }: Extract<Entered, { kind: "entered" }>,
  sentAt: number,
): HeldSlot {
  return new HeldSlot(parts, limit, holder, sentAt, value, now);
}

/** The caller has entered. */
async function holding(
  { parts, limit, context }: EnterCall,
  held: HeldSlot,
  results: readonly ItemResult[] = [],
): Promise<HeldSlot> {
  if (held.isLate) {
    // The process stood still, or the store was slow.
    await held.release();
    const message = `the rate limit store answered after the ttl of a slot of "${limit.name}" had passed`;
    throw new RateLimitStoreError(message, { isOutage: false });
  }
  held.results = results;
  const { value, ts } = held;
  const entered = { ok: true, value, ts } as const;
  report(parts.limiter, "limit", { limit, count: 1, context }, entered, true);
  return held;
}

/** There are not enough tokens for the call. */
function refused({
  name,
  retryAfter,
  results,
}: Extract<TokensResult, { ok: false }>): EnterDenied<readonly ItemResult[]> {
  return new EnterDenied(name, retryAfter, 0, results);
}

/** There is no slot for the call. */
function denied(
  { parts: { limiter }, limit, throws, context }: EnterCall,
  { retryAfter, value, ends, now }: Denied,
): EnterDenied<readonly ItemResult[]> {
  const { name, slots } = limit;
  const result = { ok: false, retryAfter, value } as const;
  report(limiter, "limit", { limit, count: 1, context }, result, false);
  if (!throws) return new EnterDenied(name, retryAfter, value, []);
  const config = slotsConfig(slots, ends);
  const data = { kind: "RateLimited", name, retryAfter, value, config, now } as const;
  throw new RateLimitError(data, limiter.environment.denialMessage);
}
