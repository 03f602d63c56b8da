/**
 * The bill of a call of a model, from the estimate to the end of the call. The bill alone takes, settles
 * and gives back the tokens of a call. After `open`, no method rejects for a store that fails: the answer
 * of a model is worth more than its tokens.
 */
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllItem } from "../limiter/types/limit-all.js";
import type { PlanOptions } from "../limiter/types/call.js";
import { RateLimitInputError } from "../../core/errors.js";
import type { HoldTerms } from "../limiter/types/hold-terms.js";
import type { UntypedOperations } from "../limiter/types/untyped.js";

/** The tokens that a call takes of one limit. */
export interface BillItem {
  item: LimitAllItem & PlanOptions;
  /** Whether the item's tokens are settled by the use that the model reports. */
  isSettled: boolean;
}

/** How a call is charged once, and holds its tokens. */
export interface BillOptions {
  once?: string | undefined;
  hold?: HoldTerms | undefined;
}

interface Taken {
  result: RateLimitResult;
  count: number;
  isSettled: boolean;
}

type Limits = Pick<UntypedOperations, "limit" | "limitAll" | "settle">;

export class Bill {
  #limits: Pick<Limits, "settle">;
  /** The result and the tokens of each limit. */
  #taken: readonly Taken[];
  #isHeld: boolean;
  #isEnded = false;

  private constructor(limits: Limits, taken: readonly Taken[], isHeld: boolean) {
    this.#limits = limits;
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
    { once, hold }: BillOptions,
  ): Promise<Bill> {
    const id = once ?? (hold && crypto.randomUUID());
    const options = { once: id, ...(hold && { hold }), throws: true };
    const results = await take(limits, items, options);
    const taken = results.map((result, i) => {
      const { item, isSettled } = items[i]!;
      return { result, count: item.count!, isSettled };
    });
    return new Bill(limits, taken, hold !== undefined);
  }

  /** @param used tokens; `NaN` keeps the estimate, and tells the limiter's logger. */
  settle(used: number): Promise<void> {
    return this.#end(() => used);
  }

  /** For a call that has used nothing. */
  giveBack(): Promise<void> {
    return this.settle(0);
  }

  /** For a call that the provider will not see: gives back the tokens of limits of requests, too. */
  undo(): Promise<void> {
    return this.#end(() => 0, this.#taken);
  }

  /**
   * For a call with a use that will not be known. Settles a hold at its estimate: a hold that lapses may
   * give the tokens back (`then: "release"`).
   */
  async keep(): Promise<void> {
    if (this.#isHeld) await this.#end((count) => count);
  }

  async #end(
    usedOf: (count: number) => number,
    taken: readonly Taken[] = this.#taken.filter(({ isSettled }) => isSettled),
  ): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await Promise.allSettled(
      taken.map(({ result, count }) => this.#settleOne(result, usedOf(count))),
    );
  }

  async #settleOne(result: RateLimitResult, used: number): Promise<void> {
    try {
      await this.#limits.settle(result, used);
    } catch (error) {
      if (!(error instanceof RateLimitInputError)) throw error;
      // No limit can be charged so much. `NaN` keeps the estimate, or a hold would lapse and might give
      // it back.
      await this.#limits.settle(result, NaN);
    }
  }
}

async function take(
  limits: Limits,
  items: readonly BillItem[],
  options: BillOptions & { throws: boolean },
): Promise<readonly RateLimitResult[]> {
  const [first, ...others] = items as [BillItem, ...BillItem[]];
  if (others.length === 0) {
    const { name, ...item } = first.item;
    return [await limits.limit(name, { ...item, ...options })];
  }
  const asked = items.map(({ item }) => item);
  return (await limits.limitAll(asked, options)).results;
}
