/** The keys of better-auth's requests. Clients choose paths and accounts, so a key can be too long. */
import { MAX_KEY_LENGTH } from "../../core/validate-key.js";

/** The key, or its SHA-256 if it is too long for a row. The hash keeps long keys apart. */
export async function shortKey(key: string): Promise<string> {
  return key.length > MAX_KEY_LENGTH ? digestOf(key) : key;
}

/** As `shortKey`. A key with a character outside of printable ASCII is replaced by its SHA-256, too. */
export async function plainKey(key: string): Promise<string> {
  return PLAIN.test(key) ? key : digestOf(key);
}

const PLAIN = new RegExp(`^[ -~]{1,${MAX_KEY_LENGTH}}$`);

async function digestOf(key: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  const hex = Array.from(new Uint8Array(hash), (byte) => byte.toString(16).padStart(2, "0"));
  return `sha256:${hex.join("")}`;
}
