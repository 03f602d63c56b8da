import { describe, expect, it } from "vitest";
import { validateKey, validateName } from "../../core/validate-key.js";

const valid: [title: string, text: string][] = [
  ["one character", "k"],
  ["191 characters", "k".repeat(191)],
  ["spaces, kept as they are", " k "],
  ["an emoji, a pair of surrogates", "👍🏽"],
  ["the name of a property of every object", "__proto__"],
  ["control characters other than NUL", "\u0001\n"],
];

const invalid: [title: string, text: unknown, quoted: RegExp][] = [
  ["an empty string", "", /not be empty(, got "")?$/],
  ["192 characters", "k".repeat(192), /at most 191 characters \(it has 192\)/],
  ["96 emoji, 192 code units", "👍".repeat(96), /at most 191 characters \(it has 192\)/],
  ["a NUL", "k\0", /NUL/],
  ["a lone high surrogate", "k\uD83D", /lone surrogate/],
  ["a lone low surrogate", "\uDC4Dk", /lone surrogate/],
  ["surrogates in the wrong order", "\uDC4D\uD83D", /lone surrogate/],
  ["a number", 42, /be a string, got (42|a number)$/],
  ["null", null, /be a string, got null$/],
  ["an object", { toString: () => "k" }, /be a string, got an object$/],
];

describe.each([
  ["key", (text: unknown) => validateKey(text as string)],
  ["name", (text: unknown) => validateName(text as string)],
])("a %s", (reason, validate) => {
  it.each(valid)("can be %s", (_title, text) => {
    expect(() => validate(text)).not.toThrow();
  });

  it.each(invalid)("cannot be %s", (_title, text, quoted) => {
    expect(() => validate(text)).toThrow(
      expect.objectContaining({
        name: "RateLimitInputError",
        kind: "InvalidInput",
        reason,
        message: expect.stringMatching(quoted),
      }),
    );
    expect(() => validate(text)).toThrow(new RegExp(`^${reason} must`));
  });

  it("is shortened in the message if it is too long", () => {
    const long = "0123456789".repeat(1000);
    expect(() => validate(long)).toThrow(/^.{1,149}$/);
    expect(() => validate(long)).not.toThrow(long.slice(0, 50));
  });
});

it("is quoted in the message if it is a name, and never if it is a key, which may be personal", () => {
  for (const id of [`ada@example.com${"m".repeat(190)}`, "ada@example.com\0", 4242]) {
    expect(() => validateKey(id as string)).toThrow(/^(?!.*(ada|4242))/);
    expect(() => validateName(id as string)).toThrow(/ada|4242/);
  }
});

it("accepts undefined as a key, for the shared bucket, but not as a name", () => {
  expect(() => validateKey(undefined)).not.toThrow();
  expect(() => validateName(undefined as unknown as string)).toThrow(/be a string, got undefined$/);
});
