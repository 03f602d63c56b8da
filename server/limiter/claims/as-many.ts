/**
 * As many tokens as fit (`atLeast`): the whole count, or else what is there. The claim is denied where
 * fewer than `atLeast` are there. Of whole numbers, whole tokens are granted.
 */
import type { RateLimitResult } from "../../../core/decide.js";
import type { RowId } from "../../store/store.js";
import type { LimitRequest } from "../limits/limit-request.js";
import type { Claim, Draft } from "./draft.js";
import { purseOf, shareOf } from "./purse.js";
import { TokenClaim } from "./token-claim.js";

/** A request for as many tokens as fit. */
export interface AsManyRequest extends LimitRequest {
  /** At most the tokens that the limit can hold. */
  count: number;
  readonly atLeast: number;
  /** The count that the caller has asked for. */
  readonly wanted: number;
}

export class AsManyClaim implements Claim<RateLimitResult> {
  /** @param rows and `closes`: those of a {@link TokenClaim}. */
  constructor(
    private readonly request: AsManyRequest,
    readonly rows: readonly RowId[],
    private readonly closes: boolean = true,
  ) {}

  get isShadow(): boolean {
    return this.request.limit.config.shadow === true;
  }

  attempt(draft: Draft, now: number): RateLimitResult {
    const { count, atLeast } = this.request;
    const whole = this.#take(draft, now, count);
    if (whole !== undefined) return whole;
    const rest = this.#rest(draft, now);
    const part = rest >= atLeast ? this.#take(draft, now, rest) : undefined;
    if (part !== undefined) return part;
    const least = new TokenClaim({ ...this.request, count: atLeast }, this.rows, this.closes);
    const result = least.attempt(draft, now);
    // A rounding error can leave `atLeast` in place of `rest`.
    return result.ok ? { ...result, granted: atLeast } : result;
  }

  /** `undefined` where so many tokens are not there. No bucket is closed, because fewer may be there. */
  #take(draft: Draft, now: number, count: number): RateLimitResult | undefined {
    const fork = draft.fork();
    const claim = new TokenClaim({ ...this.request, count }, this.rows, false);
    const result = claim.attempt(fork, now);
    if (!result.ok) return undefined;
    draft.adopt(fork);
    return { ...result, granted: count };
  }

  /** The tokens that are there. The rows are guarded, because a call gets fewer only if these are all. */
  #rest(draft: Draft, now: number): number {
    const { limit, count, atLeast } = this.request;
    // The row that counts closings has no tokens.
    const rows = limit.counted === undefined ? this.rows : limit.rows;
    for (const row of rows) draft.read(row);
    return shareOf(purseOf(rows, limit.part, draft, now), count, areWhole(count, atLeast));
  }
}

export function areWhole(count: number, atLeast: number): boolean {
  return Number.isInteger(count) && Number.isInteger(atLeast);
}
