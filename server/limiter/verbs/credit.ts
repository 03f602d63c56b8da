/** `credit`: adds to a balance, such as credits that a user has bought. */
import { heldAt } from "../../../core/rows/reading.js";
import { capacityOf } from "../../../core/config.js";
import { validateCount } from "../../../core/count.js";
import { rowOfTokens } from "../../../core/rows/bucket.js";
import { isCredits } from "../../../core/rows/credits.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { RowId } from "../../store/store.js";
import { type Context, report } from "../context/context.js";
import { type Claim, ClaimDecision, type Draft } from "../claims/draft.js";
import { CREDIT_OPTIONS } from "../types/credit.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { CreditOptions, CreditResult } from "../types/credit.js";
import { once } from "../claims/once.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

export async function credit(
  context: Context,
  name: string,
  options: CreditOptions,
): Promise<CreditResult> {
  const { resolve, apply, environment, markerFor } = context;
  rejectUnknownOptions(options, CREDIT_OPTIONS, "credit()");
  const { count, once: id, context: of } = options;
  // A balance can also be raised while an override exempts or blocks its key.
  const limit = beneathAnswer(resolve(name, options));
  if (!isCredits(limit.config)) throw uncreditable(limit);
  validateCount(count);
  const claim = new CreditClaim(limit, count);
  // The ids of `credit` are apart from the ids of calls that take.
  const marker = id === undefined ? undefined : markerFor(limit, id, "credit");
  const marked = marker === undefined ? claim : once(claim, limit, marker);
  const [answer] = await apply([new ClaimDecision(marked, environment.clock)]);
  const result = answer as RateLimitResult & { ok: true };
  const credited = result.repeated ? 0 : claim.credited;
  report(context, "credit", { limit, count, context: of }, result, credited > 0);
  return { value: result.value, credited, ...(result.repeated && { repeated: true }) };
}

class CreditClaim implements Claim<RateLimitResult> {
  readonly rows: readonly RowId[];
  /** The credits that the last attempt added. */
  credited = 0;

  constructor(
    private readonly limit: ResolvedLimit,
    private readonly count: number,
  ) {
    this.rows = limit.rows;
  }

  attempt(draft: Draft, now: number): RateLimitResult {
    const { count } = this;
    const { rows, part } = this.limit;
    const held = heldAt(draft.read(rows[0]), part, now);
    const value = Math.min(held.value + count, capacityOf(part));
    // Below the capacity, all of `count` was added, and the difference of the two values would have a
    // rounding error. At the capacity, only the difference fitted.
    this.credited = Math.max(0, value < capacityOf(part) ? count : value - held.value);
    const { ts } = held;
    if (this.credited > 0) draft.write(rows[0], rowOfTokens(part, { value, ts }));
    return { ok: true, value, ts };
  }
}

function uncreditable({ name, config: { kind } }: ResolvedLimit): RateLimitConfigError {
  const message =
    `credit() does not go with "${name}", which is of kind "${kind}": only credits are ` +
    "added to; use refund() to give tokens of a call back";
  return new RateLimitConfigError("name", name, { message });
}
