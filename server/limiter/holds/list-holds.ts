/** `holds`: the open holds of a key. */
import { MOST_HOLDS } from "../../../core/rows/hold.js";
import type { OpenHold } from "../types/holds.js";
import { unheld } from "../types/hold-terms.js";
import { KEY_OPTIONS } from "../types/call.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import type { KeyOptions } from "../types/call.js";
import type { Context } from "../context/context.js";
import { beneathAnswer } from "../limits/overrides/overridden-answer.js";
import { unsupported } from "../types/unsupported.js";
import type { RateLimitStore } from "../../store/store.js";
import { findHolds } from "./find-holds.js";

/** @returns the open holds. The holds that lapse first come first. */
export async function listHolds(
  context: Context,
  store: RateLimitStore,
  name: string,
  options: KeyOptions = {},
): Promise<OpenHold[]> {
  rejectUnknownOptions(options, KEY_OPTIONS, "holds()");
  const limit = beneathAnswer(context.resolve(name, options, false));
  if (limit.holdRows === undefined) throw unheld(name, options);
  if (store.list === undefined) throw unsupported(store, "list");
  const found = await findHolds(context, limit, MOST_HOLDS);
  return found.map(({ hold: { count, atLapse, until }, id }) => ({
    once: id,
    count,
    then: atLapse,
    until,
  }));
}
