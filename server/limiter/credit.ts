/** `credit`: adds to a balance, such as credits that a user has bought. */
import { heldAt, type RateLimitState } from "../../core/calculate.js";
import { capacityOf } from "../../core/config.js";
import { validateCount } from "../../core/count.js";
import { isCredits } from "../../core/credits.js";
import type { RateLimitResult } from "../../core/decide.js";
import { RateLimitConfigError } from "../../core/errors.js";
import type { Decision } from "../store/store.js";
import { type Context, type Environment, report } from "./context.js";
import { CREDIT_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { CreditOptions, CreditResult } from "./limit-first-options.js";
import { decideOnce, type Marker } from "./once.js";
import { beneathAnswer } from "./overrides/overridden-answer.js";
import type { ResolvedLimit } from "./resolve-limit.js";

interface Credited {
  result: RateLimitResult & { ok: true };
  /** The credits that were added. */
  credited: number;
}

export async function credit(
  context: Context,
  name: string,
  options: CreditOptions,
): Promise<CreditResult> {
  const { resolve, apply, environment, markerFor } = context;
  rejectUnknownOptions(options, CREDIT_OPTIONS, "credit()");
  const { count, once } = options;
  // A balance can also be raised while an override exempts or blocks its key.
  const limit = beneathAnswer(resolve(name, options));
  if (!isCredits(limit.config)) throw uncreditable(limit);
  validateCount(count);
  // Its ids are apart from those of calls that take.
  const marker = once === undefined ? undefined : markerFor(limit, once, "credit");
  const [answer] = await apply([addCredits(limit, count, environment, marker)]);
  const { result, credited } = answer!;
  report(context, "credit", { limit, count }, result, credited > 0);
  return { value: result.value, credited, ...(result.repeated && { repeated: true }) };
}

function addCredits(
  limit: ResolvedLimit,
  count: number,
  { clock }: Pick<Environment, "clock">,
  marker: Marker | undefined,
): Decision<Credited> {
  const { rows, part } = limit;
  return {
    rows: marker === undefined ? rows : [...rows, marker.row],
    decide([state, known]) {
      const now = clock();
      let credited = 0;
      const add = () => {
        const held = heldAt(state, part, now);
        const value = Math.min(held.value + count, capacityOf(part));
        // Where the balance is full, it is `count` less what did not fit, and not a rounding error.
        credited = Math.max(0, value < capacityOf(part) ? count : value - held.value);
        const next: RateLimitState = { value, ts: held.ts };
        const result = { ok: true as const, ...next };
        return { result, writes: credited > 0 ? [next] : undefined };
      };
      const { result, writes } =
        marker === undefined ? add() : decideOnce({ limit, marker }, [state!], known, now, add);
      return { result: { result: result as Credited["result"], credited }, writes };
    },
  };
}

function uncreditable({ name, config: { rate } }: ResolvedLimit): RateLimitConfigError {
  const message =
    `credit() does not go with "${name}", whose rate is ${rate}: only credits (rate: 0) are added ` +
    "to; use refund() to give tokens of a call back";
  return new RateLimitConfigError("name", name, { message });
}
