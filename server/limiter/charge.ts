/** `charge`: takes tokens for what has happened already, also into debt. */
import { heldAt, type RateLimitState } from "../../core/calculate.js";
import { chargeFloor, chargeRows } from "../../core/charge.js";
import { capacityOf } from "../../core/config.js";
import { countOf, validateCount } from "../../core/count.js";
import { grantOf, type RateLimitResult } from "../../core/decide.js";
import { RateLimitInputError } from "../../core/errors.js";
import { answerAt } from "./overrides/overridden-answer.js";
import { canChargePlainly } from "../store/plain-path.js";
import type { Decision, Outcome, RowId } from "../store/store.js";
import type { ChargeOptions, ChargeResult } from "./call-options.js";
import { allRows, chooseRows } from "./choose-shards.js";
import { type Context, type Environment, report } from "./context.js";
import { CHARGE_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import { decideOnce, type Marker } from "./once.js";
import type { OverriddenAnswer, ResolvedLimit } from "./resolve-limit.js";

export async function charge(
  context: Context,
  name: string,
  options: ChargeOptions = {},
): Promise<ChargeResult> {
  rejectUnknownOptions(options, CHARGE_OPTIONS, "charge()");
  const { once } = options;
  const count = countOf(options);
  const limit = context.resolve(name, options);
  const marker = once === undefined ? undefined : context.markerFor(limit, once);
  const charged = await chargeLimit(context, limit, count, marker);
  const { value, retryAfter } = charged;
  return {
    value,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(charged.ok && charged.repeated && { repeated: true }),
  };
}

/** @throws RateLimitInputError for a count that is not valid, or would be a debt for ever. */
export async function chargeLimit(
  context: Context,
  limit: ResolvedLimit,
  count: number,
  marker?: Marker,
): Promise<RateLimitResult> {
  const { apply, environment } = context;
  if (limit.answer !== undefined)
    return chargeOverridden(context, limit, limit.answer, count, marker);
  validateChargeable(limit, count);
  if (marker !== undefined) {
    const [once] = (await apply([chargeOnce(limit, count, environment, marker)])) as [Charged];
    report(context, "charge", { limit, count }, once, count > 0 && !once.repeated);
    return once;
  }
  const rows = chooseRows(limit, environment.random);
  const isAll = rows.length === (limit.config.shards ?? 1);
  let [charged] = await apply([chargeRowsOf(limit, rows, count, environment, isAll)]);
  // A debt is spread over all shards, so that every call meets it.
  charged ??= (await apply([chargeRowsOf(limit, allRows(limit), count, environment, true)]))[0];
  report(context, "charge", { limit, count }, charged!, count > 0);
  return charged!;
}

type Charged = RateLimitResult & { ok: true };

function chargeOnce(
  limit: ResolvedLimit,
  count: number,
  environment: Environment,
  marker: Marker,
): Decision<RateLimitResult | undefined> {
  const charging = chargeRowsOf(limit, limit.rows, count, environment, true);
  return {
    rows: [...limit.rows, marker.row],
    decide(states) {
      const own = states.slice(0, -1);
      const decide = () => charging.decide(own) as Outcome<RateLimitResult>;
      const now = environment.clock();
      return decideOnce({ marker, limit }, own, states.at(-1), now, decide);
    },
  };
}

/** An exempt caller is charged nothing. A blocked caller is charged for what it has used. */
async function chargeOverridden(
  context: Context,
  limit: ResolvedLimit,
  answer: OverriddenAnswer,
  count: number,
  marker: Marker | undefined,
): Promise<RateLimitResult> {
  if (answer.kind === "blocked") return chargeLimit(context, answer.beneath, count, marker);
  validateCount(count);
  const result = answerAt(answer, limit.config, context.environment.clock());
  report(context, "charge", { limit, count }, result, false);
  return result;
}

/**
 * Charges tokens to rows of a limit.
 *
 * @param mayOwe whether the rows may go into debt. Where they may not and hold too few tokens, the
 * result is `undefined`, and nothing is written.
 */
function chargeRowsOf(
  limit: ResolvedLimit,
  rows: readonly RowId[],
  count: number,
  { clock }: Pick<Environment, "clock">,
  mayOwe: boolean,
): Decision<RateLimitResult | undefined> {
  const { part } = limit;
  const floor = chargeFloor(part);
  return {
    rows,
    plain: canChargePlainly({ limit, rows, count, floor })
      ? {
          config: part,
          count,
          floor,
          clock,
          granted: (next, later, now) => grantOf(next, part, now, later),
        }
      : undefined,
    decide(states) {
      const now = clock();
      const next = chargeRows(states, part, now, count);
      const [first] = next as [RateLimitState];
      if (!mayOwe && first.value < 0) return { result: undefined };
      const result = grantOf(first, part, now);
      // A charge of nothing must not write, because a closed bucket is recognised by its row. A
      // plain charge always writes.
      const writes = count > 0 ? next : undefined;
      if (next.length === 1) return { result, writes };
      const shards = rows.map(({ shard }, i) => {
        const held = heldAt(states[i], part, now);
        return { shard, count: held.value - next[i]!.value };
      });
      return { result: { ...result, value: next.length * result.value, shards }, writes };
    },
  };
}

function validateChargeable({ name, part, config }: ResolvedLimit, count: number): void {
  validateCount(count);
  if (capacityOf(part) - count / (config.shards ?? 1) >= chargeFloor(part)) return;
  const message = `a charge of ${count} to "${name}" would take more than 71,000 years to refill`;
  throw new RateLimitInputError("unsatisfiable", message);
}
