/** What an address says of the control room. */
import { describe, expect, it } from "vitest";
import { type Place, placeOf, textOf } from "../../../client/admin/place.js";

describe("a place", () => {
  it.each<[Place, string]>([
    [{}, ""],
    [{ view: "who", range: "day" }, "rla-view=who&rla-range=day"],
    [{ limit: "api calls", tab: "all" }, "rla-limit=api+calls&rla-tab=all"],
    [{ key: {} }, "rla-key=shared"],
    [{ key: { key: "shared" } }, "rla-key=typed%3Ashared"],
    [{ key: { key: "a&b=c#d\n%", stored: true } }, "rla-key=stored%3Aa%26b%3Dc%23d%0A%25"],
  ])("%o is the text %s, and back", (place, text) => {
    expect(textOf(place)).toBe(text);
    expect(placeOf(text)).toEqual(place);
  });

  it("keeps a key that a router would read as a number a text", () => {
    for (const key of ["007", "12345678901234567890", "1e5", "true"]) {
      const [, value] = textOf({ key: { key } }).split("=");
      expect(() => JSON.parse(decodeURIComponent(value!)) as unknown).toThrow(SyntaxError);
    }
  });

  it.each([
    ["a key of no kind", "rla-key=ann"],
    ["an empty key", "rla-key=typed:"],
    ["a key that no server takes", `rla-key=typed:${"a".repeat(1001)}`],
    ["what is not its own", "view=who&key=typed:ann"],
  ])("leaves out %s", (_, text) => {
    expect(placeOf(text)).toEqual({});
  });

  it("reads an address with broken escapes as it stands", () => {
    expect(placeOf("rla-key=typed:%E0%A4%A&rla-view=%")).toEqual({
      key: { key: expect.any(String) },
      view: "%",
    });
  });
});
