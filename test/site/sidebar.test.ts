import { describe, expect, it } from "vitest";
import { type Page, readPages, routeOf } from "../../site/pages.js";
import { sidebarsOf } from "../../site/sidebar.js";

const page = (source: string, file: string, text: string): Page => ({ source, file, text });

const INDEX = `# Documentation

## Begin

| page                      | about |
| ------------------------- | ----- |
| [Limits](limits.md)       | a     |
| [Guides](guides/README.md) | b     |

## Trust

| page                                             | about |
| ------------------------------------------------ | ----- |
| [Performance](performance.md), [Changes](../CHANGELOG.md), [security](../SECURITY.md) | c |
`;
const PAGES = [
  page("docs/README.md", "docs/index.md", INDEX),
  page("docs/limits.md", "docs/limits.md", "# Limits"),
  page("docs/performance.md", "docs/performance.md", "# Performance"),
  page(
    "docs/guides/README.md",
    "docs/guides/index.md",
    "# Guides\n\n## Hosts\n\n| guide | about |\n| --- | --- |\n| [Next `16`](next.md#x) | d |\n",
  ),
  page("docs/guides/next.md", "docs/guides/next.md", "# Next 16"),
  page(
    "docs/reference.md",
    "docs/reference/index.md",
    "# Reference\n| `server.md` |\n| `client.md` |",
  ),
  page("docs/reference/client.md", "docs/reference/client.md", "# x/client"),
  page("docs/reference/server.md", "docs/reference/server.md", "# x/server"),
  page("CHANGELOG.md", "docs/changelog.md", "# Changes"),
];
const withReference = INDEX.replace(
  "| [Guides]",
  "| [Every export](reference.md) | e |\n| [Guides]",
);
const listed = PAGES.map((one) => (one.text === INDEX ? { ...one, text: withReference } : one));

describe("the sidebar", () => {
  it("has the groups of the index, of the guides, or the reference in its own order", () => {
    const sidebars = Object.entries(sidebarsOf(listed)).map(([folder, groups]) => [
      folder,
      ...groups.map(({ text, items }) => [text, ...items.map(({ link }) => link)]),
    ]);
    expect(sidebars).toEqual([
      [
        "/docs/",
        ["Begin", "/docs/introduction", "/docs/limits", "/docs/reference/", "/docs/guides/"],
        ["Trust", "/docs/how-fast", "/docs/performance", "/docs/changelog"],
      ],
      ["/docs/guides/", ["Guides", "/docs/"], ["Hosts", "/docs/guides/next"]],
      [
        "/docs/reference/",
        ["Reference", "/docs/", "/docs/reference/server", "/docs/reference/client"],
      ],
    ]);
  });

  it("refuses pages that no index names, and says where to add them", () => {
    const forgotten = page("docs/forgotten.md", "docs/forgotten.md", "# Forgotten");
    expect(() => sidebarsOf([...listed, forgotten])).toThrow(
      "No index names docs/forgotten.md. Add a line to a table of docs/README.md, or of " +
        "docs/guides/README.md for a guide",
    );
  });

  it("has every page of the documentation", async () => {
    const pages = await readPages();
    const groups = Object.values(sidebarsOf(pages)).flat();
    const links = new Set(groups.flatMap(({ items }) => items).map(({ link }) => link));
    const others = pages.filter(({ file }) => !links.has(`/${routeOf(file)}`));
    expect(others.map(({ source }) => source)).toEqual([]);
  });
});
