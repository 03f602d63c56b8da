/** Code and seed in the fragment of an address, which no server sees. */
import { MOST } from "./engine/protocol.js";

export interface Shared {
  code: string;
  /** A whole number from 0 to below 2^32. */
  seed: number;
}

/** The letters of a fragment. Longer ones are not read. */
const MOST_FRAGMENT = 12_000;
const FRAGMENT = /^#run=(\d{1,10})\.([\w-]*)$/;

/** @returns the fragment, with its `#`; `undefined` if it would be too long. */
export async function fragmentOf({ code, seed }: Shared): Promise<string | undefined> {
  const packed = await pass(new TextEncoder().encode(code), new CompressionStream("deflate-raw"));
  const letters = btoa(String.fromCharCode(...packed!))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
  const fragment = `#run=${seed}.${letters}`;
  return fragment.length > MOST_FRAGMENT || code.length > MOST.code ? undefined : fragment;
}

/** @returns `undefined` for anything that {@link fragmentOf} does not write. */
export async function readFragment(fragment: string): Promise<Shared | undefined> {
  if (fragment.length > MOST_FRAGMENT) return undefined;
  const [, digits, letters] = FRAGMENT.exec(fragment) ?? [];
  const seed = Number(digits);
  if (letters === undefined || !(seed < 2 ** 32)) return undefined;
  try {
    const text = atob(letters.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const unpacked = await pass(bytes, new DecompressionStream("deflate-raw"));
    if (unpacked === undefined) return undefined;
    const code = new TextDecoder("utf-8", { fatal: true }).decode(unpacked);
    return code.length > MOST.code ? undefined : { code, seed };
  } catch {
    return undefined;
  }
}

/** @returns `undefined` as soon as there is more than any code has: a few letters may unpack to many. */
async function pass(
  bytes: Uint8Array<ArrayBuffer>,
  through: CompressionStream | DecompressionStream,
): Promise<Uint8Array | undefined> {
  const reader = new Blob([bytes]).stream().pipeThrough(through).getReader();
  const found: number[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return Uint8Array.from(found);
    // A letter takes up to four bytes.
    if (found.length + value.length > 4 * MOST.code) {
      await reader.cancel();
      return undefined;
    }
    for (const byte of value) found.push(byte);
  }
}
