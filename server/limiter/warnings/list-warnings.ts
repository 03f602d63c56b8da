/** `warnings`: the warnings of a limit that were not told yet. */
import { RateLimitConfigError } from "../../../core/errors.js";
import { markerKey } from "../../../core/rows/marker.js";
import { sideName } from "../../../core/rows/side-rows.js";
import { WARNINGS } from "../../../core/rows/warning.js";
import type { RateLimitStore } from "../../store/store.js";
import type { Context } from "../context/context.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import { KEY_OPTIONS, type KeyOptions } from "../types/call.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { unsupported } from "../types/unsupported.js";
import type { RateLimitWarning } from "../types/warnings.js";
import { warningOf } from "./stored-warning.js";

/** Warnings of one answer. */
const MOST = 1000;

export async function listWarnings<TName extends string>(
  context: Context,
  store: RateLimitStore,
  name: TName,
  options: KeyOptions = {},
): Promise<RateLimitWarning<TName>[]> {
  rejectUnknownOptions(options, KEY_OPTIONS, "warnings()");
  const limit = beneathAnswer(context.resolve(name, options, false));
  if (limit.config.warnAt === undefined) throw unwarned(name);
  if (store.list === undefined) throw unsupported(store, "list");
  const prefix = "key" in options ? markerKey(limit.rows[0].key) : "";
  const found = await context.earliest(sideName(WARNINGS, name), prefix, MOST);
  return found
    .flatMap(({ row, state }) => {
      const warning = warningOf(row, state);
      return warning ? [{ ...warning, name }] : [];
    })
    .sort((a, b) => a.at - b.at || a.level - b.level);
}

function unwarned(name: string): RateLimitConfigError {
  const message = `warnings() needs a limit with warnAt, and "${name}" has none; add warnAt: [0.8, 1] to it`;
  return new RateLimitConfigError("warnAt", undefined, { message });
}
