/** The digest that listeners and channels get after a change of the table of overrides. */
import { changeDigest } from "./change-digest.js";

/** The name that stands for the table in a digest. No limit can have this name. */
export const OVERRIDES_NAME = "\0overrides";

export const OVERRIDES_DIGEST = changeDigest(OVERRIDES_NAME, undefined);
