import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

/** The colours that a stylesheet names, by their names. */
const coloursIn = (css: string) =>
  new Map(
    [...css.matchAll(/^ {2}(--[\w-]+): (light-dark\(#.*\));$/gm)].map(([, a, b]) => [a!, b!]),
  );

it("has one colour for the brand, and for granted, waiting and denied, on all pages", () => {
  const demo = coloursIn(read("example-app/shared/page/styles.css"));
  const docs = coloursIn(read("site/docs/.vitepress/theme/style.css"));
  const meanings = ["--accent", "--granted", "--waiting", "--denied"];
  expect(meanings.filter((name) => !demo.has(name) || !docs.has(name))).toEqual([]);
  const shared = [...docs.keys()].filter((name) => demo.has(name));
  expect(shared.map((name) => docs.get(name))).toEqual(shared.map((name) => demo.get(name)));
});
