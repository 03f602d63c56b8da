/** `charge`: takes tokens for use that has happened already, also into debt. */
import { chargeFloor, chargeRows, validateChargeable } from "../../../core/charge.js";
import { countOf, validateCount } from "../../../core/count.js";
import { grantOf, type RateLimitResult } from "../../../core/decide.js";
import { answerAt } from "../limits/overrides/overridden-answer.js";
import { canChargePlainly } from "../../store/plain-path.js";
import type { PlainTake, RowId } from "../../store/store.js";
import type { ChargeOptions, ChargeResult } from "../types/charge.js";
import { allRows, chooseRows } from "../claims/choose-shards.js";
import { type Context, report } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { quietFloor } from "../claims/quiet.js";
import { CHARGE_OPTIONS } from "../types/charge.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { Marker } from "../claims/markers.js";
import { withUsage } from "../claims/with-usage.js";
import { once } from "../claims/once.js";
import type { OverriddenAnswer, ResolvedLimit } from "../limits/resolved-limit.js";

/**
 * The hint for a missing figure, such as `count: undefined`, which must not count as a `count` left out:
 * as 1.
 */
const UNKNOWN_USE =
  "; to take 1 token, leave count out; where the use is not known, do not call charge()";

export async function charge(
  context: Context,
  name: string,
  options: ChargeOptions = {},
): Promise<ChargeResult> {
  rejectUnknownOptions(options, CHARGE_OPTIONS, "charge()");
  const { once: id, context: of } = options;
  if ("count" in options) validateCount(options.count, UNKNOWN_USE);
  const count = countOf(options);
  const limit = context.resolve(name, options);
  const marker = id === undefined ? undefined : context.markerFor(limit, id);
  const charged = await chargeLimit(context, limit, count, { marker, context: of });
  const { value, retryAfter } = charged;
  return {
    value,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(charged.ok && charged.repeated && { repeated: true }),
  };
}

export interface ChargeTerms {
  /** Remembers the id of the call. */
  marker?: Marker | undefined;
  /** The `context` of the call. */
  context?: unknown;
}

/** @throws RateLimitInputError for a count that is not valid, or would be a debt for ever. */
export async function chargeLimit(
  context: Context,
  limit: ResolvedLimit,
  count: number,
  terms: ChargeTerms = {},
): Promise<RateLimitResult> {
  const { apply, environment } = context;
  const { marker } = terms;
  if (limit.answer !== undefined)
    return chargeOverridden(context, limit, limit.answer, count, terms);
  validateChargeable(limit.name, limit.part, count, limit.config.shards);
  if (marker !== undefined) {
    const claim = once(chargeClaim(limit, limit.rows, count, environment), limit, marker);
    return chargeOnce(context, claim, { ...terms, limit, count });
  }
  const decision = (rows: readonly RowId[]) => chargeDecision(limit, rows, count, environment);
  let [charged] = await apply([decision(chooseRows(limit, environment.random))]);
  // A debt is spread over all shards, so that every call meets the debt.
  charged ??= (await apply([decision(allRows(limit))]))[0];
  report(context, "charge", { ...terms, limit, count }, charged!, count > 0, "in its row");
  return charged!;
}

async function chargeOnce(
  context: Context,
  claim: Claim<RateLimitResult | undefined>,
  of: ChargeTerms & { limit: ResolvedLimit; count: number },
): Promise<RateLimitResult> {
  const decision = new ClaimDecision(claim, context.environment.clock);
  const [charged] = await context.apply([decision]);
  report(context, "charge", of, charged!, decision.isChange, "in its row");
  return charged!;
}

/**
 * An exempt caller is charged nothing, and its use counts all the same. A blocked caller is charged for its
 * use.
 */
async function chargeOverridden(
  context: Context,
  limit: ResolvedLimit,
  answer: OverriddenAnswer,
  count: number,
  terms: ChargeTerms,
): Promise<RateLimitResult> {
  if (answer.kind === "blocked") return chargeLimit(context, answer.beneath, count, terms);
  validateCount(count);
  const { clock } = context.environment;
  const exempt: Claim<RateLimitResult> = {
    rows: limit.rows,
    attempt: (_, now) => answerAt(answer, limit.config, now),
  };
  const claim = withUsage(exempt, limit, clock(), { taken: count });
  const { marker } = terms;
  const marked = marker === undefined ? claim : once(claim, limit, marker);
  return chargeOnce(context, marked, { ...terms, limit, count });
}

/** The decision of a charge. Where the charge is plain, a store may carry it out by itself. */
function chargeDecision(
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
): ClaimDecision<RateLimitResult | undefined> {
  const { part: config } = limit;
  const floor = quietFloor(limit, chargeFloor(config));
  const granted: PlainTake<RateLimitResult>["granted"] = (next, later, now) =>
    grantOf(next, config, now, later);
  // The usage of a charge counts in the decision, which then writes several rows.
  const isPlain = limit.usage === undefined && canChargePlainly({ limit, rows, count, floor });
  const plain = isPlain ? { config, count, floor, clock, granted } : undefined;
  return new ClaimDecision({ ...chargeClaim(limit, rows, count, { clock }), plain }, clock);
}

/**
 * Charges tokens to rows of a limit. Only all rows of the limit together go into debt. Where only some of
 * them are charged, and they hold too few tokens, the answer is `undefined`, and nothing is written.
 */
function chargeClaim(
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
): Claim<RateLimitResult | undefined> {
  const {
    part,
    config: { shards = 1 },
  } = limit;
  const claim: Claim<RateLimitResult | undefined> = {
    rows,
    attempt(draft, now) {
      const states = rows.map((row) => draft.read(row));
      const { next, charged } = chargeRows(states, part, now, count);
      const first = next[0]!;
      if (rows.length < shards && first.used < 0) return undefined;
      // A charge of 0 must not write, because a closed bucket is recognised by its row. A plain charge,
      // which always writes, is never one of 0.
      if (count > 0) for (const [i, row] of rows.entries()) draft.write(row, next[i]!);
      const result = grantOf(first, part, now);
      if (rows.length === 1) return result;
      const used = rows.map(({ shard }, i) => ({ shard, count: charged[i]! }));
      return { ...result, value: next.length * result.value, shards: used };
    },
  };
  return withUsage(claim, limit, clock(), { taken: count }, (answer) => answer !== undefined);
}
