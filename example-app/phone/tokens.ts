/**
 * Tokens that make another device the same visitor. Each start of the demo has a key of its own, so a
 * token ends with the server that gave it. A token is no cookie: its key and its form are others.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The bytes of a signature. No program guesses 128 bits over a network, and the code stays small. */
const SIGNATURE = 16;
const UUID = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/;

/**
 * @param visitor a UUID. @default the visitor who has opened the page on this machine last, whom the
 *   server looks up when the token is used
 */
export function tokenOf(key: string, visitor: string = ""): string {
  const named = Buffer.from(visitor.replaceAll("-", ""), "hex");
  return Buffer.concat([named, sign(key, named)]).toString("base64url");
}

/** @returns what a token stands for, or `undefined` for a token that another key or no key has signed. */
export function readToken(key: string, token: string): { visitor?: string } | undefined {
  const bytes = Buffer.from(token, "base64url");
  if (bytes.length !== SIGNATURE && bytes.length !== 16 + SIGNATURE) return undefined;
  const named = bytes.subarray(0, -SIGNATURE);
  if (!timingSafeEqual(bytes.subarray(-SIGNATURE), sign(key, named))) return undefined;
  return named.length === 0
    ? {}
    : { visitor: named.toString("hex").replace(UUID, "$1-$2-$3-$4-$5") };
}

function sign(key: string, named: Buffer): Buffer {
  return createHmac("sha256", key).update(named).digest().subarray(0, SIGNATURE);
}
