/** What listeners and channels get after a change of the table of overrides. */
import { changeDigest } from "./change-digest.js";

/** The name whose changes are those of the table. No limit can have it. */
export const OVERRIDES_NAME = "\0overrides";

export const OVERRIDES_DIGEST = changeDigest(OVERRIDES_NAME, undefined);
