/** `changeConfig`: what was used by one config stays used by another one. */
import { changedRows } from "../../core/change-config.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { isCredits } from "../../core/rows/credits.js";
import { sumShards } from "../../core/shards.js";
import { configName } from "../changes/config-digest.js";
import type { ChangeConfigOptions } from "./call-options.js";
import { allRows } from "./choose-shards.js";
import type { Context } from "./context.js";
import { ClaimDecision, type Draft } from "./draft.js";
import { CHANGE_CONFIG_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import { beneathAnswer } from "./overrides/overridden-answer.js";
import type { ResolvedLimit } from "./resolve-limit.js";

export async function changeConfig(
  context: Context,
  name: string,
  options: ChangeConfigOptions,
): Promise<{ value: number }> {
  rejectUnknownOptions(options, CHANGE_CONFIG_OPTIONS, "changeConfig()");
  const { from, to, ...of } = options;
  if (from === undefined && to === undefined) {
    const message =
      "changeConfig() needs from, to or both: what is left out is the limit's own config";
    throw new RateLimitConfigError("to", to, { message });
  }
  // The row can also be changed while an override exempts or blocks its key.
  const [before, after] = [from, to].map((config) =>
    beneathAnswer(context.resolve(name, config === undefined ? of : { ...of, config })),
  ) as [ResolvedLimit, ResolvedLimit];
  if (isCredits(after.config)) throw unchangeable(name);
  const left = await changeRows(context, before, after);
  // An open page goes by the old config. Its stream asks which one its caller has now.
  context.onChange(configName(name), after.key);
  return left;
}

/** Changes the rows of a limit in one decision, and tells of it. */
export async function changeRows(
  {
    apply,
    environment,
    endLeases,
    onChange,
  }: Pick<Context, "apply" | "environment" | "endLeases" | "onChange">,
  from: ResolvedLimit,
  to: ResolvedLimit,
): Promise<{ value: number }> {
  const [row] = to.rows;
  const decision = new ClaimDecision(changeClaim(from, to), environment.clock);
  // What this process holds in blocks was taken from the row, and so it was used.
  endLeases(row);
  // Also if it fails, because the answer alone may have been lost.
  const [value] = await apply([decision]).finally(() => endLeases(row));
  onChange(to.name, to.key);
  return { value: value! };
}

/** The answer is the tokens that the rows hold after the change. */
export function changeClaim(from: ResolvedLimit, to: ResolvedLimit) {
  const own = allRows(to);
  // Those of `to` come first: a store learns from a row by which config it is used from now on.
  const rows = [...own, ...allRows(from).slice(own.length)];
  return {
    rows,
    attempt(draft: Draft, now: number): number {
      const states = rows.map((row) => draft.read(row));
      const next = changedRows(states, from.config, to.config, now);
      if (next !== undefined) for (const [i, row] of rows.entries()) draft.write(row, next[i]!);
      return sumShards((next ?? states).slice(0, own.length), to.config, now).value;
    },
  };
}

function unchangeable(name: string): RateLimitConfigError {
  const message =
    `changeConfig() does not go with the credits of "${name}": a balance has what was bought, whatever ` +
    "its config; use credit() to add and charge() to take";
  return new RateLimitConfigError("name", name, { message });
}
