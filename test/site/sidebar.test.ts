import { describe, expect, it } from "vitest";
import { type Page, readPages, routeOf } from "../../site/pages.js";
import { type Group, sidebarOf } from "../../site/sidebar.js";

const page = (source: string, file: string, text: string): Page => ({ source, file, text });

const INDEX = `# Documentation

## Begin

- [Limits](limits.md): a
- [Guides](guides/README.md): b

## Questions

- [How fast is it?](performance.md)

## Trust

- [Performance](performance.md): c
- [Changes](../CHANGELOG.md): d
- [security](../SECURITY.md): e
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
    "# Reference\n| `reference/server/` |\n| `reference/client/` |\n| `reference/gone/` |",
  ),
  page(
    "docs/reference/client/README.md",
    "docs/reference/client/index.md",
    "# x/client\n\n## Links\n\n| Name | About |\n| --- | --- |\n| [`link`](link.md) | a |\n",
  ),
  page("docs/reference/client/link.md", "docs/reference/client/link.md", "# link"),
  page(
    "docs/reference/server/README.md",
    "docs/reference/server/index.md",
    "# x/server\n\n## First\n\n| Name | About |\n| --- | --- |\n| [`make`](make.md) | b |\n| [`link`](../client/link.md) | c |\n",
  ),
  page("docs/reference/server/make.md", "docs/reference/server/make.md", "# make"),
  page("CHANGELOG.md", "docs/changelog.md", "# Changes"),
];
const withReference = INDEX.replace("- [Guides]", "- [Every export](reference.md): e\n- [Guides]");
const listed = PAGES.map((one) => (one.text === INDEX ? { ...one, text: withReference } : one));

const linksIn = (items: Group["items"]): string[] =>
  items.flatMap((item) => ("items" in item ? linksIn(item.items) : [item.link]));

describe("the sidebar", () => {
  it("has the groups of the index, the guides, and the reference in its own order", () => {
    const groups = sidebarOf(listed).map(({ text, items }) => [text, ...linksIn(items)]);
    expect(groups).toEqual([
      ["Get started", "/docs/", "/docs/introduction", "/docs/limits", "/docs/guides/"],
      ["Trust", "/docs/performance", "/docs/changelog"],
      ["Guides", "/docs/guides/next"],
      [
        "Reference",
        "/docs/reference/",
        "/docs/reference/server/",
        "/docs/reference/server/make",
        "/docs/reference/client/",
        "/docs/reference/client/link",
      ],
    ]);
    expect(sidebarOf(listed)[3]!.items[1]).toEqual({
      text: "server",
      collapsed: true,
      items: [
        { text: "All names", link: "/docs/reference/server/" },
        { text: "make", link: "/docs/reference/server/make" },
      ],
    });
    expect(sidebarOf(listed)[2]!.items).toEqual([
      { text: "Hosts", items: [{ text: "Next 16", link: "/docs/guides/next" }] },
    ]);
  });

  it("has a page once, also if both indexes name it, and no heading without a page", () => {
    const twice = listed.map((one) =>
      one.text === withReference
        ? {
            ...one,
            text: one.text.replace("- [Guides]", "- [Next](guides/next.md): f\n- [Guides]"),
          }
        : one,
    );
    const groups = sidebarOf(twice);
    expect(groups.map(({ text }) => text)).toEqual(["Get started", "Trust", "Reference"]);
    expect(groups[0]!.items).toContainEqual({ text: "Next.js", link: "/docs/guides/next" });
  });

  it("refuses pages that no index names, and says where to add them", () => {
    const forgotten = page("docs/forgotten.md", "docs/forgotten.md", "# Forgotten");
    expect(() => sidebarOf([...listed, forgotten])).toThrow(
      "No index names docs/forgotten.md. Add a line to docs/README.md, or to " +
        "docs/guides/README.md for a guide",
    );
  });

  it("has every page of the documentation, once", async () => {
    const pages = await readPages();
    const links = linksIn(sidebarOf(pages).flatMap(({ items }) => items));
    expect(links.toSorted()).toEqual(pages.map(({ file }) => `/${routeOf(file)}`).toSorted());
  });
});
