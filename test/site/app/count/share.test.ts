/** Code and seed in an address, and addresses that somebody else has made up. */
import { deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { MOST } from "../../../../site/app/count/engine/protocol.js";
import { PRESETS } from "../../../../site/app/count/presets.js";
import { fragmentOf, readFragment } from "../../../../site/app/count/share.js";

const packed = (text: string | Uint8Array) => deflateRawSync(text).toString("base64url");

describe("a fragment", () => {
  it.each([
    ...PRESETS.map(({ code }) => code),
    "",
    "// ä 😀 <script>\u0000",
    "x".repeat(MOST.code),
  ])("gives back code and seed", async (code) => {
    for (const seed of [0, 7, 2 ** 32 - 1]) {
      const fragment = await fragmentOf({ code, seed });
      expect(fragment).toMatch(/^#run=\d+\.[\w-]*$/);
      expect(await readFragment(fragment!)).toEqual({ code, seed });
    }
  });

  it("is shorter than the code of most limiters", async () => {
    for (const { code } of PRESETS) {
      expect((await fragmentOf({ code, seed: 1 }))!.length).toBeLessThan(
        Math.max(250, code.length),
      );
    }
  });

  it("is not made of code that is too long", async () => {
    expect(await fragmentOf({ code: "x".repeat(MOST.code + 1), seed: 1 })).toBeUndefined();
  });

  it.each([
    ["nothing", ""],
    ["another fragment", "#options"],
    ["no seed", `#run=.${packed("x")}`],
    ["too large a seed", `#run=4294967296.${packed("x")}`],
    ["letters of no code", "#run=1.____"],
    ["half of a code", `#run=1.${packed("async function allow() {}").slice(0, 12)}`],
    ["bytes that are no text", `#run=1.${packed(Uint8Array.of(0xff, 0xfe, 0xfd))}`],
    ["code that is too long", `#run=1.${packed("x".repeat(MOST.code + 1))}`],
    ["a few letters that unpack to many", `#run=1.${packed("x".repeat(8_000_000))}`],
    ["too many letters", `#run=1.${"A".repeat(12_000)}`],
  ])("that has %s is not read", async (_, fragment) => {
    expect(await readFragment(fragment)).toBeUndefined();
  });
});
