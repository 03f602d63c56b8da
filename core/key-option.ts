/** The option `key` of a call, for a key that may be missing: left out, and not `undefined`. */
export function keyOption(key: string | undefined): { key?: string } {
  return key === undefined ? {} : { key };
}
