/**
 * What a call of a model has taken, from its estimate to its end. It is the only place that takes tokens,
 * settles them and gives them back. Nothing of it rejects once the call is under way: an answer is worth
 * more than its tokens.
 */
import type { RateLimitResult } from "../../core/decide.js";
import type { LimitAllItem } from "../limiter/call-options.js";
import type { UntypedOperations } from "../limiter/limiter-types.js";

/** What a call takes of one limit. */
export interface BillItem {
  item: LimitAllItem;
  /** Whether its tokens are settled by the reported use. */
  isSettled: boolean;
}

export class Bill {
  #limits: Pick<UntypedOperations, "settle">;
  #results: readonly RateLimitResult[];
  #isEnded = false;

  /** @param results those that are settled. */
  private constructor(
    limits: Pick<UntypedOperations, "settle">,
    results: readonly RateLimitResult[],
  ) {
    this.#limits = limits;
    this.#results = results;
  }

  /**
   * Takes the estimate from all limits, or from none.
   *
   * @throws RateLimitError for a denied call.
   */
  static async open(
    limits: Pick<UntypedOperations, "limit" | "limitAll" | "settle">,
    items: readonly BillItem[],
    once: string | undefined,
  ): Promise<Bill> {
    const asked = items.map(({ item }) => item);
    if (asked.length === 1) {
      const [{ name, ...options }] = asked as [LimitAllItem];
      return new Bill(limits, [await limits.limit(name, { ...options, once, throws: true })]);
    }
    const { results } = await limits.limitAll(asked, { once, throws: true });
    return new Bill(
      limits,
      results.filter((_, i) => items[i]!.isSettled),
    );
  }

  /** @param used tokens; `NaN` keeps the estimate, and tells the limiter's logger. */
  async settle(used: number): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    await Promise.allSettled(this.#results.map((result) => this.#limits.settle(result, used)));
  }

  /** For a call that has used nothing. */
  giveBack(): Promise<void> {
    return this.settle(0);
  }
}
