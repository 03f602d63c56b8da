/** What listeners and channels get when a caller has another config from now on: after `changeConfig`. */
import { changeDigest } from "./change-digest.js";

/** The name whose changes are those of the configs of a limit. No limit can have it. */
export function configName(name: string): string {
  return `\0config:${name}`;
}

export function configDigest(name: string, key: string | undefined): string {
  return changeDigest(configName(name), key);
}
