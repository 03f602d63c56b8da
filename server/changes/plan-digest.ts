/** What listeners and channels get when a key may have other limits from now on: `planChanged`. */
import { changeDigest } from "./change-digest.js";

/** The name whose changes are those of plans. No limit can have it. */
export const PLAN_NAME = "\0plan";

export function planDigest(key: string | undefined): string {
  return changeDigest(PLAN_NAME, key);
}
