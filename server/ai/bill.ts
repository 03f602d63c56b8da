/**
 * The bill of a call of a model, from the estimate to the end of the call. The bill alone takes, settles
 * and gives back the tokens of a call. After `open`, no method rejects for a store that fails: the answer
 * of a model is worth more than its tokens.
 */
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitInputError } from "../../core/errors.js";
import type { PlanOptions } from "../limiter/types/call.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type {
  ItemResult,
  LimitAllFirst,
  LimitAllItem,
  LimitAllResult,
} from "../limiter/types/limit-all.js";
import type { UntypedOperations } from "../limiter/types/untyped.js";

/** The tokens that a call takes of one limit, or of the first of several. */
export interface BillItem {
  item: (LimitAllItem | LimitAllFirst) & PlanOptions;
  /** The limits that may be charged. */
  names: readonly string[];
  count: number;
  /** Whether the item's tokens are settled by the use that the model reports. */
  isSettled: boolean;
}

/** How a call is charged once, how it holds its tokens, and what its events say. */
export interface BillOptions {
  once?: string | undefined;
  hold?: HoldTerms | undefined;
  context?: unknown;
}

interface Taken {
  /** One for each item. */
  results: readonly ItemResult[];
  /** The answer to all items. */
  answer: RateLimitResult | LimitAllResult<readonly ItemResult[]>;
}

type Limits = Pick<UntypedOperations, "limit" | "limitAll" | "settle">;

export class Bill {
  readonly #limits: Pick<Limits, "settle">;
  readonly #items: readonly BillItem[];
  readonly #taken: Taken;
  readonly #isHeld: boolean;
  #isEnded = false;

  private constructor(limits: Limits, items: readonly BillItem[], taken: Taken, isHeld: boolean) {
    this.#limits = limits;
    this.#items = items;
    this.#taken = taken;
    this.#isHeld = isHeld;
  }

  /**
   * Takes the estimate from all limits, or from none.
   *
   * @throws RateLimitError for a denied call.
   */
  static async open(
    limits: Limits,
    items: readonly BillItem[],
    { once, hold, context }: BillOptions,
  ): Promise<Bill> {
    const id = once ?? (hold && crypto.randomUUID());
    const options = { once: id, ...(hold && { hold }), context, throws: true };
    return new Bill(limits, items, await take(limits, items, options), hold !== undefined);
  }

  /** @param used tokens; `NaN` keeps the estimate, and tells the limiter's logger. */
  settle(used: number): Promise<void> {
    return this.#end(({ isSettled, count }) => (isSettled ? used : count));
  }

  /** For a call that has used nothing. */
  giveBack(): Promise<void> {
    return this.settle(0);
  }

  /** For a call that the provider will not see: gives back the tokens of limits of requests, too. */
  undo(): Promise<void> {
    return this.#end(() => 0);
  }

  /**
   * For a call with a use that will not be known. Settles a hold at its estimate: a hold that lapses may
   * give the tokens back (`then: "release"`).
   */
  async keep(): Promise<void> {
    if (this.#isHeld) await this.#end(({ count }) => count);
  }

  async #end(usedOf: (item: BillItem) => number): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const used = this.#items.map(usedOf);
    try {
      const said = saidTogether(this.#items, used);
      if (said !== undefined) {
        // One result takes a number, and a list of results takes a number, too.
        await this.#limits.settle(this.#taken.answer as LimitAllResult, said);
        return;
      }
    } catch (error) {
      // One of the limits cannot be charged so much.
      if (!(error instanceof RateLimitInputError)) return;
    }
    await Promise.allSettled(used.map((each, i) => this.#settleOne(i, each)));
  }

  async #settleOne(i: number, used: number): Promise<void> {
    const result = this.#taken.results[i]!;
    try {
      await this.#limits.settle(result, used);
    } catch (error) {
      if (!(error instanceof RateLimitInputError)) throw error;
      // `NaN` keeps the estimate, or a hold would lapse and might give it back.
      await this.#limits.settle(result, NaN);
    }
  }
}

/**
 * The use of all items, for one call of `settle`; `undefined` where a limit counts tokens under one key and
 * requests under another.
 */
function saidTogether(
  items: readonly BillItem[],
  used: readonly number[],
): number | Record<string, number> | undefined {
  const [first] = used as [number];
  if (used.every((each) => Object.is(each, first))) return first;
  const byName = new Map(items.map(({ names: [name] }, i) => [name!, used[i]!]));
  const isSaid = items.every(({ names }, i) =>
    names.every((name) => !byName.has(name) || Object.is(byName.get(name), used[i])),
  );
  return isSaid ? Object.fromEntries(byName) : undefined;
}

async function take(
  limits: Limits,
  items: readonly BillItem[],
  options: BillOptions & { throws: boolean },
): Promise<Taken> {
  const [{ item: first }, ...others] = items as [BillItem, ...BillItem[]];
  if (others.length === 0 && "name" in first) {
    const { name, ...own } = first;
    const answer = await limits.limit(name, { ...own, ...options });
    return { results: [answer], answer };
  }
  const answer = await limits.limitAll(
    items.map(({ item }) => item),
    options,
  );
  return { results: answer.results, answer };
}
