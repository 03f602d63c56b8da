import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readToken, tokenOf } from "../../../example-app/phone/tokens.js";

const KEY = "the key of this start";
const visitor = randomUUID();

describe("a token", () => {
  it("stands for its visitor, or for the last one on the machine", () => {
    expect(readToken(KEY, tokenOf(KEY, visitor))).toEqual({ visitor });
    expect(readToken(KEY, tokenOf(KEY))).toEqual({});
  });

  it("has only characters that an address keeps as they are", () => {
    expect(tokenOf(KEY, visitor)).toMatch(/^[\w-]{43}$/);
    expect(tokenOf(KEY)).toMatch(/^[\w-]{22}$/);
  });

  it("is worth nothing to another start of the demo", () => {
    expect(readToken("another key", tokenOf(KEY, visitor))).toBeUndefined();
    expect(readToken("another key", tokenOf(KEY))).toBeUndefined();
  });

  it("names no other visitor after a change of any byte", () => {
    const bytes = Buffer.from(tokenOf(KEY, visitor), "base64url");
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes);
      changed[i]! ^= 1;
      expect(readToken(KEY, changed.toString("base64url"))).toBeUndefined();
    }
  });

  it.each(["", "a", "../../etc/passwd", "%00", "A".repeat(21), "A".repeat(10_000), visitor])(
    "is not %j",
    (token) => expect(readToken(KEY, token)).toBeUndefined(),
  );
});
