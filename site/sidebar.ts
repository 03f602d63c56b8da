/**
 * The list of pages beside every page. The list is the same list everywhere: pages that are not guides,
 * the guides, and the reference. The list comes from the lists and tables of docs/README.md and
 * docs/guides/README.md, so a new page needs a line there, and no change here. The list of the reference
 * comes from its own indexes.
 */
import { dirname, join, normalize } from "node:path";
import { fileOf, type Page, routeOf } from "./pages.js";

interface Link {
  text: string;
  link: string;
}

/** Pages below a heading. The groups of the guides and of the reference have further headings. */
export interface Group {
  text: string;
  items: (Link | Heading)[];
}

interface Heading {
  text: string;
  items: Link[];
  /** Shown as a single line that can be opened, since it has many pages. */
  collapsed?: true;
}

interface Section {
  text: string;
  items: Link[];
}

/** Names that readers know from other documentation, instead of the names in the indexes. */
const NAMES: Record<string, string> = {
  Begin: "Get started",
  "The command": "CLI",
  Next: "Next.js",
};
const named = (text: string) => NAMES[text] ?? text;

const linkTo = (file: string) => `/${routeOf(file)}`;
const REFERENCE = linkTo(fileOf("docs/reference.md")!);

/** @throws Error about pages that no index names. */
export function sidebarOf(pages: readonly Page[]): Group[] {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const indexOf = (source: string) => sectionsIn(bySource.get(source)!, bySource);
  const docs = indexOf("docs/README.md");
  const guides = indexOf("docs/guides/README.md");
  const reference = pages.filter(({ source }) => source.startsWith("docs/reference/"));

  const listed = new Set(
    [...docs, ...guides].flatMap(({ items }) => items).map(({ link }) => link),
  );
  const others = new Set(["docs/README.md", ...reference.map(({ source }) => source)]);
  const missing = pages.filter(
    ({ source, file }) =>
      source.startsWith("docs/") && !others.has(source) && !listed.has(linkTo(file)),
  );
  if (missing.length > 0) {
    throw new Error(
      `No index names ${missing.map(({ source }) => source).join(", ")}. ` +
        `Add a line to docs/README.md, or to docs/guides/README.md for a guide`,
    );
  }
  const own = docs.map((section, i) => ({
    text: section.text,
    // The reference has a group of its own.
    items: [...(i === 0 ? ownPages() : []), ...section.items].filter(
      ({ link }) => link !== REFERENCE,
    ),
  }));
  const unique = withoutRepeats([...own, ...guides]);
  return [
    ...unique.slice(0, own.length),
    { text: "Guides", items: unique.slice(own.length) },
    {
      text: "Reference",
      items: [{ text: "Every name", link: REFERENCE }, ...entryPoints(bySource)],
    },
  ]
    .map(({ text, items }) => ({ text, items: items.filter(hasPages) }))
    .filter(hasPages);
}

/**
 * A heading for each entry point, in the order of docs/reference.md. Its pages have the order of its
 * index. Empty if the reference was not written.
 */
function entryPoints(bySource: ReadonlyMap<string, Page>): Heading[] {
  const { text: order } = bySource.get("docs/reference.md")!;
  return [...order.matchAll(/^\| `reference\/([\w/-]+)\/`/gm)].flatMap(([, name]) => {
    const index = bySource.get(`docs/reference/${name}/README.md`);
    if (index === undefined) return [];
    const pages = sectionsIn(index, bySource).flatMap(({ items }) => items);
    // An index also links to pages of other entry points.
    const own = pages.filter(({ link }) => link.replace(/[^/]*$/, "") === linkTo(index.file));
    const all = { text: "All names", link: linkTo(index.file) };
    return [{ text: name!, items: [all, ...own], collapsed: true as const }];
  });
}

const hasPages = (item: Group["items"][number] | Group) =>
  !("items" in item) || item.items.length > 0;

/** A page has one place, or the reader would find two marks. The first place is kept. */
function withoutRepeats(sections: readonly Section[]): Section[] {
  const seen = new Set<string>();
  return sections.map(({ text, items }) => ({
    text,
    items: items.filter(({ link }) => !seen.has(link) && seen.add(link)),
  }));
}

/**
 * Each heading with its pages. A page is a link that begins a line of a list and has a colon behind it,
 * or a link in the first column of a table. Links without a colon are other ways to the same pages.
 */
function sectionsIn(index: Page, bySource: ReadonlyMap<string, Page>): Section[] {
  const [, ...sections] = index.text.split(/^## /m);
  return sections.flatMap((section) => {
    const [text = ""] = section.split("\n");
    const lines = [...section.matchAll(/^(?:\| (\[.*?) +\||- (\[[^\]]+\]\([^)]+\)):)/gm)];
    const starts = lines.map(([, cell, item]) => (cell ?? item)!);
    const links = starts.flatMap((cell) => [
      ...cell.matchAll(/\[([^\]]+)\]\((?!\w+:)([^)#]+)[^)]*\)/g),
    ]);
    const items = links.flatMap(([, label, target]) => {
      const source = normalize(join(dirname(index.source), target!));
      const file = fileOf(source);
      return file === undefined || !bySource.has(source)
        ? []
        : [{ text: named(label!.replaceAll("`", "")), link: linkTo(file) }];
    });
    return items.length === 0 ? [] : [{ text: named(text), items }];
  });
}

/** The pages of the first group that no index of docs names. */
const ownPages = (): Link[] => [
  { text: "All pages", link: linkTo(fileOf("docs/README.md")!) },
  { text: "What it is", link: "/docs/introduction" },
];
