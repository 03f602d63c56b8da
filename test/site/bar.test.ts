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
