/**
 * The list of pages beside a page: all that are no guide, all guides, or the reference. They come from
 * the tables of docs/README.md and docs/guides/README.md, so a new page needs a line there, and
 * nothing here.
 */
import { basename, dirname, join, normalize } from "node:path";
import { fileOf, type Page, routeOf, titleOf } from "./pages.js";

export interface Group {
  text: string;
  items: { text: string; link: string }[];
}

/** By the folder of the page that is shown. */
export type Sidebars = Record<"/docs/" | "/docs/guides/" | "/docs/reference/", Group[]>;

const linkTo = (file: string) => `/${routeOf(file)}`;

/** @throws Error about pages that no index names. */
export function sidebarsOf(pages: readonly Page[]): Sidebars {
  const bySource = new Map(pages.map((page) => [page.source, page]));
  const indexOf = (source: string) => groupsIn(bySource.get(source)!, bySource);
  const docs = indexOf("docs/README.md");
  const guides = indexOf("docs/guides/README.md");
  const { text: order } = bySource.get("docs/reference.md")!;
  const placeOf = ({ source }: Page) => order.indexOf(`\`${basename(source)}\``);
  const reference = pages
    .filter(({ source }) => source.startsWith("docs/reference/"))
    .sort((a, b) => placeOf(a) - placeOf(b));

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
        `Add a line to a table of docs/README.md, or of docs/guides/README.md for a guide`,
    );
  }
  const back = { text: "All pages", link: linkTo(fileOf("docs/README.md")!) };
  const entries = reference.map((page) => ({ text: titleOf(page), link: linkTo(page.file) }));
  return {
    "/docs/": docs.map((group, i) => ({ ...group, items: [...ownPages(i, docs), ...group.items] })),
    "/docs/guides/": [{ text: "Guides", items: [back] }, ...guides],
    "/docs/reference/": [{ text: "Reference", items: [back, ...entries] }],
  };
}

/** Each heading with a table below, and what the first column of that table links to. */
function groupsIn(index: Page, bySource: ReadonlyMap<string, Page>): Group[] {
  const [, ...sections] = index.text.split(/^## /m);
  return sections.flatMap((section) => {
    const [text = ""] = section.split("\n");
    const cells = [...section.matchAll(/^\| (\[.*?) +\|/gm)].map(([, cell]) => cell!);
    const links = cells.flatMap((cell) => [
      ...cell.matchAll(/\[([^\]]+)\]\((?!\w+:)([^)#]+)[^)]*\)/g),
    ]);
    const items = links.flatMap(([, label, target]) => {
      const source = normalize(join(dirname(index.source), target!));
      const file = fileOf(source);
      return file === undefined || !bySource.has(source)
        ? []
        : [{ text: label!.replaceAll("`", ""), link: linkTo(file) }];
    });
    return items.length === 0 ? [] : [{ text, items }];
  });
}

/** The pages that no index of docs names: what the package is, first of all, and the proofs beside the figures. */
function ownPages(place: number, groups: readonly Group[]): Group["items"] {
  const proofs = groups.findIndex(({ items }) =>
    items.some(({ link }) => link === "/docs/performance"),
  );
  return [
    ...(place === 0 ? [{ text: "What it is", link: "/docs/introduction" }] : []),
    ...(place === proofs ? [{ text: "How fast, and how we know", link: "/docs/how-fast" }] : []),
  ];
}
