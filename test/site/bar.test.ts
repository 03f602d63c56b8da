import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { barLinksOf, currentOf } from "../../site/bar.js";

it("leads to the sources where the repository is known", () => {
  const names = (repository?: string) => barLinksOf(repository).map(({ text }) => text);
  expect(names("https://github.com/ada/limits")).toEqual([...names(), "GitHub"]);
});

it("marks the page itself, or the part of the site that it belongs to", () => {
  const marked = (route: string) =>
    barLinksOf(undefined).flatMap((link) => {
      const current = currentOf(link, route);
      return current === undefined ? [] : [`${link.text}: ${current}`];
    });
  expect(marked("")).toEqual([]);
  expect(marked("docs/")).toEqual(["Docs: page"]);
  expect(marked("docs/limits")).toEqual(["Docs: true"]);
  expect(marked("docs/reference/")).toEqual(["Reference: page"]);
  expect(marked("docs/reference/react/")).toEqual(["Reference: true"]);
});

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

/** The colours that a stylesheet names, by their names. */
const coloursIn = (css: string) =>
  new Map(
    [...css.matchAll(/^ {2}(--[\w-]+): (light-dark\(#.*\));$/gm)].map(([, a, b]) => [a!, b!]),
  );

// The bar takes its colours from the page that it is on.
it("has one colour for the brand, and for granted, waiting and denied, on all pages", () => {
  const demo = coloursIn(read("example-app/shared/page/styles.css"));
  const docs = coloursIn(read("site/docs/.vitepress/theme/style.css"));
  const meanings = ["--accent", "--granted", "--waiting", "--denied"];
  expect(meanings.filter((name) => !demo.has(name) || !docs.has(name))).toEqual([]);
  const shared = [...docs.keys()].filter((name) => demo.has(name));
  expect(shared.map((name) => docs.get(name))).toEqual(shared.map((name) => demo.get(name)));
});
