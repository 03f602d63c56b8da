import { expect, it } from "vitest";
import { excerptOf, markedIn, type Piece } from "../../site/excerpt.js";

const shown = (pieces: readonly Piece[]) =>
  pieces.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join("");

it("marks whole words, in both numbers, however they are written", () => {
  expect(shown(markedIn("Limits limit what a limiter does.", ["limit"]))).toBe(
    "[Limits] [limit] what a limiter does.",
  );
  expect(shown(markedIn("nothing", []))).toBe("nothing");
});

it("shows the part of a long text in which most of the words are", () => {
  const far = `a ban ${"and more words ".repeat(40)}a ban for an hour, by key${" of them".repeat(40)}`;
  const text = shown(excerptOf(far, ["ban", "hour", "key"]));
  expect(text).toMatch(/^… .*a \[ban\] for an \[hour\], by \[key\] of them.* …$/);
  expect(text.length).toBeLessThan(200);
});

it("shows the beginning of a text without any of the words", () => {
  expect(shown(excerptOf("A short text.", ["ban"]))).toBe("A short text.");
  const long = "word ".repeat(100).trim();
  expect(shown(excerptOf(long, ["ban"]))).toMatch(/^word word.* word …$/);
  expect(excerptOf("", ["ban"])).toEqual([]);
});
