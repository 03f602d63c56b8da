/** `planChanged`: tells open pages that a key may have other limits from now on. */
import { RateLimitInputError } from "../../../core/errors.js";
import { validateKey } from "../../../core/validate-key.js";
import { PLAN_NAME } from "../../changes/plan-digest.js";
import type { Context } from "../context/context.js";

export function planChanged({ onChange }: Pick<Context, "onChange">, key: string): void {
  // `undefined` may be a missing user id, so it must not stand for the shared bucket.
  if (key === undefined) {
    throw new RateLimitInputError("key", "planChanged() needs the key whose plan has changed");
  }
  validateKey(key);
  onChange(PLAN_NAME, key);
}
