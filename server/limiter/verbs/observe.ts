/** `observe`: a provider's figures about its own limit lower the rows, and never raise them. */
import { DAY } from "../../../core/durations.js";
import { describe, RateLimitConfigError, RateLimitInputError } from "../../../core/errors.js";
import { observedRows } from "../../../core/observe.js";
import { isCredits } from "../../../core/rows/credits.js";
import type { ObserveOptions, ObserveResult } from "../types/observe.js";
import { allRows } from "../claims/choose-shards.js";
import type { Context } from "../context/context.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import { OBSERVE_OPTIONS } from "../types/observe.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** A longer wait is a mistake, such as a date in seconds where a duration was expected. */
const LONGEST_WAIT = 31 * DAY;

export async function observe(
  context: Context,
  name: string,
  options: ObserveOptions,
): Promise<ObserveResult> {
  const { resolve, apply, environment, endLeases, onChange, warn } = context;
  rejectUnknownOptions(options, OBSERVE_OPTIONS, "observe()");
  const { remaining, retryAfter, resetAt, ...of } = options;
  // The rows can also be lowered while an override exempts or blocks their key.
  const limit = beneathAnswer(resolve(name, of));
  if (isCredits(limit.config)) throw unobservable(name);
  validateTypes({ remaining, retryAfter, resetAt });
  const wrong = wrongFigure(options, environment.clock());
  if (wrong !== undefined) {
    warn(`observe ${name}`, `observe() of "${name}" got ${wrong}, so it has changed nothing`);
    return { observed: false, lowered: false };
  }
  const [row] = limit.rows;
  const claim = observeClaim(limit, remaining!, (now) => resetAt ?? now + (retryAfter ?? 0));
  const decision = new ClaimDecision(claim, environment.clock);
  // The blocks of this process may have more tokens than the provider has left.
  endLeases(row);
  // End the leases also after a failure, because only the answer may have been lost.
  const [lowered] = await apply([decision]).finally(() => endLeases(row));
  if (lowered) onChange(limit.name, limit.key);
  return { observed: true, lowered: lowered! };
}

/** The answer is whether a row has lost tokens. */
function observeClaim(
  limit: ResolvedLimit,
  remaining: number,
  untilOf: (now: number) => number,
): Claim<boolean> {
  const rows = allRows(limit);
  return {
    rows,
    attempt(draft, now) {
      const states = rows.map((row) => draft.read(row));
      const next = observedRows(states, limit.part, now, remaining, untilOf(now));
      for (const [i, row] of rows.entries()) if (next[i] !== undefined) draft.write(row, next[i]);
      return draft.isWritten;
    },
  };
}

type Figures = Pick<ObserveOptions, "remaining" | "retryAfter" | "resetAt">;

/** A text in place of a number is a mistake of the program. A wrong number is a mistake of the provider. */
function validateTypes({ remaining, retryAfter, resetAt }: Figures): void {
  if (!isFigure(remaining)) {
    const message = `remaining must be a number of tokens, got ${describe(remaining)}`;
    throw new RateLimitInputError("count", message);
  }
  for (const [option, value] of Object.entries({ retryAfter, resetAt })) {
    if (!isFigure(value)) throw new RateLimitConfigError(option, value, "a number of ms");
  }
  if (isThere(retryAfter) && isThere(resetAt)) {
    const message = "retryAfter and resetAt of observe() say the same; leave one of them out";
    throw new RateLimitConfigError("resetAt", resetAt, { message });
  }
}

const isThere = (value: unknown) => value !== undefined && value !== null;
const isFigure = (value: unknown) => !isThere(value) || typeof value === "number";

/** The first of the provider's figures that cannot be true, for a message; `undefined` if all can. */
function wrongFigure({ remaining, retryAfter, resetAt }: Figures, now: number): string | undefined {
  if (!isThere(remaining) || !(remaining >= 0 && remaining < Infinity))
    return `remaining: ${String(remaining)}`;
  if (isThere(retryAfter) && !(retryAfter >= 0 && retryAfter <= LONGEST_WAIT)) {
    return `retryAfter: ${String(retryAfter)} ms, which is no wait of at most 31 days`;
  }
  if (isThere(resetAt) && !(resetAt >= 0 && resetAt - now <= LONGEST_WAIT)) {
    return `resetAt: ${String(resetAt)}, which is no instant of the next 31 days in epoch ms`;
  }
  return undefined;
}

function unobservable(name: string): RateLimitConfigError {
  const message =
    `observe() does not go with the credits of "${name}": a balance has what was bought, whatever a ` +
    "provider says; observe a limit that refills";
  return new RateLimitConfigError("name", name, { message });
}
