/** The names of prepared statements. */

/** By text. */
const names = new Map<string, string>();

/**
 * The name of a prepared statement: a hash of its text (FNV-1a, 64 bits). The name is the same in every
 * copy of this module, because after a reload a connection rejects a known name with another text.
 */
export function statementName(text: string): string {
  return names.get(text) ?? nameOf(text);
}

function nameOf(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
  }
  const name = `rate_limit_${hash.toString(36)}`;
  names.set(text, name);
  return name;
}
