/** The Markdown pages of the repository, and the parts of them that tests check. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export const ROOT = join(import.meta.dirname, "../../");

export interface Page {
  /** From the root of the repository. */
  path: string;
  text: string;
}

export interface Block {
  page: string;
  language: string;
  /** The file that the block is part of, from the comment on its first line. */
  path: string | undefined;
  code: string;
  /** Its label, where it stands among tabs and is not the first of them. */
  tab?: string;
}

/** What coding assistants read: an index of the pages, and instructions. */
export const FOR_ASSISTANTS = ["llms.txt", "skills/trpc-rate-limit/SKILL.md"];

/** The pages that `npm run docs:reference` writes. Git does not keep them. */
export const REFERENCE = "docs/reference/";

/** The pages of `docs/`, its guides included, and without the reference. */
export async function docsPages(): Promise<Page[]> {
  const files = await readdir(join(ROOT, "docs"), { recursive: true });
  const names = files
    .map((name) => `docs/${name}`)
    .filter((name) => name.endsWith(".md") && !name.startsWith(REFERENCE));
  return Promise.all(names.sort().map(readPage));
}

/** Pages that are part of the published package. */
export async function publishedPages(): Promise<Page[]> {
  const others = await Promise.all(["README.md", ...FOR_ASSISTANTS].map(readPage));
  return [...others, ...(await docsPages())];
}

export async function allPages(): Promise<Page[]> {
  const others = ["CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "example-app/README.md"].map(
    readPage,
  );
  return [...(await publishedPages()), ...(await Promise.all(others))];
}

export async function readPage(path: string): Promise<Page> {
  return { path, text: await readFile(join(ROOT, path), "utf8") };
}

/** After the language may stand which lines the site highlights. */
const BLOCK = /^```(\w+)(?: ?\{[\d,-]+\})?\n([\s\S]*?)^```$/gm;
/** `<!-- tabs: Prisma, pg -->` is above as many blocks. */
const TABS_OR_BLOCK = new RegExp(`^<!-- tabs: (.+) -->$|${BLOCK.source}`, "gm");

/** Pages beside the guides whose blocks share a folder of their own. */
const WITH_FOLDER: Record<string, string> = {
  "README.md": "guides/readme",
  "docs/recipes.md": "guides/recipes",
};

/** Blocks of a guide share a folder of their own. Those of most other pages share one. */
function folderOf(page: string): string {
  if (page in WITH_FOLDER) return WITH_FOLDER[page]!;
  const [, guide] = /^docs\/(guides\/.+)\.md$/.exec(page) ?? [];
  return guide ?? (page.startsWith("skills/") ? "guides/skill" : "");
}

/** Where the tests write a block, from their folder. Tabs have one path: all but the first get another name. */
export function fileOf({ page, path = "", tab }: Block): string {
  const name = tab === undefined ? path : path.replace(/(?=\.tsx?$)/, `.${tab.toLowerCase()}`);
  return join(folderOf(page), name);
}

export function blocksOf({ path: page, text }: Page): Block[] {
  const blocks: Block[] = [];
  let labels: string[] = [];
  let first: string | undefined;
  for (const [, tabs, language, code] of text.matchAll(TABS_OR_BLOCK)) {
    if (tabs !== undefined) {
      labels = tabs.split(",").map((label) => label.trim());
      first = labels[0];
      continue;
    }
    const tab = labels.shift();
    blocks.push({
      page,
      language: language!,
      code: code!,
      path: /^\/\/ (\S+\.tsx?)\n/.exec(code!)?.[1],
      ...(tab !== undefined && tab !== first && { tab }),
    });
  }
  return blocks;
}

/** A page's text without its code blocks. */
export function proseOf({ text }: Page): string {
  return text.replace(BLOCK, "");
}

/** What stands between single backticks. */
export function inlineCodeOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!);
}

/** Targets of links that are not addresses of other sites. */
export function relativeLinksOf(page: Page): string[] {
  const links = proseOf(page).matchAll(/\]\((?!\w+:)([^)]+)\)/g);
  return [...links].map(([, target]) => target!);
}

/** The anchors that GitHub gives to a page's headings, and those that the page has of its own. */
export function anchorsOf(page: Page): string[] {
  const own = [...proseOf(page).matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!);
  const headings = proseOf(page).matchAll(/^#+ (.+)$/gm);
  const seen = new Map<string, number>();
  const given = [...headings].map(([, heading]) => {
    const plain = heading!.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "");
    const anchor = plain.trim().replace(/\s/g, "-");
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
  return [...given, ...own];
}
