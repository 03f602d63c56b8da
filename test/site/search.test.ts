import { runInThisContext } from "node:vm";
import { expect, it } from "vitest";
import { tokenize } from "../../site/search.js";

it("splits a text into its words", () => {
  expect(tokenize("Limits: the two kinds")).toEqual(["Limits", "the", "two", "kinds"]);
});

it("has a name that ends with .js in one piece, too", () => {
  expect(tokenize("Next.js and T3")).toEqual(["Next", "js", "and", "T3", "Nextjs"]);
  // The files of code blocks are no names.
  expect(tokenize('from "./limits.js"')).not.toContain("limitsjs");
});

it("needs nothing outside of itself, because the browser gets its text", () => {
  const copy = runInThisContext(`(${tokenize.toString()})`) as typeof tokenize;
  expect(copy("Next.js")).toEqual(tokenize("Next.js"));
});
