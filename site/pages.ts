/** The Markdown files that become pages of the site, and the file of each page. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../", import.meta.url));

/** Pages that are not in `docs`, or that have another address than their file. */
const MOVED: Record<string, string> = {
  "README.md": "docs/introduction.md",
  "CHANGELOG.md": "docs/changelog.md",
  // The page about the reference is its index. The generated index beside it is a bare list.
  "docs/reference.md": "docs/reference/index.md",
  "docs/reference/README.md": "docs/reference/index.md",
};

export interface Page {
  /** The path from the root of the repository. */
  source: string;
  /** The path from the root of the site's pages. */
  file: string;
  text: string;
}

/** Where a file of the repository is on the site; `undefined` if the file is not a page of the site. */
export function fileOf(source: string): string | undefined {
  if (source in MOVED) return MOVED[source];
  return /^docs\/.*\.md$/.test(source) ? source.replace(/README\.md$/, "index.md") : undefined;
}

/** The address of a page's file, from the site's base. */
export function routeOf(file: string): string {
  return file.replace(/(?:^|(?<=\/))index\.md$|\.md$/, "");
}

/** What only readers of the repository need: those of the site are there. */
const FOR_CLONES = /<!-- clone -->[^]*?<!-- \/clone -->\n*/g;

export async function readPages(): Promise<Page[]> {
  const inDocs = await readdir(join(ROOT, "docs"), { recursive: true });
  const sources = new Set([...Object.keys(MOVED), ...inDocs.map((name) => `docs/${name}`)]);
  sources.delete("docs/reference/README.md");
  const pages = [...sources].flatMap((source) => {
    const file = fileOf(source);
    return file === undefined ? [] : [{ source, file }];
  });
  return Promise.all(
    pages.map(async ({ source, file }) => ({
      source,
      file,
      text: (await readFile(join(ROOT, source), "utf8")).replace(FOR_CLONES, ""),
    })),
  );
}
