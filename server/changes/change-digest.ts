/**
 * A change channel tells of changes by digests instead of names and keys: 53 bits derived from a name and
 * a key. Keys can be e-mail addresses, and every listener of a channel would read them. A key cannot be
 * read back from its digest. A listener that guesses a key can still compare the digest of the guess.
 *
 * The digest is not cryptographic: `crypto.subtle` is asynchronous, edge runtimes lack `node:crypto`, and
 * a longer digest would not hinder guessing. If two keys share a digest, one of them is read once more
 * than needed.
 */
import { bucketId } from "../../core/bucket-id.js";

/**
 * The digest of a limit for one key. The same in every process.
 *
 * @example
 * import { changeDigest } from "trpc-rate-limit/server";
 *
 * const mine = changeDigest("sendMessage", userId);
 * const stop = limiter.onChange((digest) => {
 *   if (digest === mine) console.log("their tokens have changed");
 * });
 */
export function changeDigest(name: string, key: string | undefined): string {
  return hashOf(bucketId(name, key)).toString(36);
}

/** 53 bits derived from a text: whole, from 0. */
export function hashOf(text: string): number {
  // Two lanes of multiplication, as in cyrb53. At the end, each lane is mixed into the other lane.
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  const high = mix(b) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  const low = mix(a) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  return 2 ** 32 * (high & 0x1fffff) + (low >>> 0);
}

function mix(lane: number): number {
  return Math.imul(lane ^ (lane >>> 16), 2246822507);
}
