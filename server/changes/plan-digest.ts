/**
 * The digest that listeners and channels get after `planChanged`: a key may have other limits from now
 * on.
 */
import { changeDigest } from "./change-digest.js";

/** The name that stands for plans in a digest. No limit can have this name. */
export const PLAN_NAME = "\0plan";

export function planDigest(key: string | undefined): string {
  return changeDigest(PLAN_NAME, key);
}
