/** Builds the site to `site/dist`: the documentation with VitePress, and the demo's parts with Vite. */
import { spawnSync } from "node:child_process";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { readFacts } from "../example-app/package-facts.js";
import { readAddress } from "./address.js";
import { withCards } from "./cards.js";
import { problemsOf } from "./check-links.js";
import { withShownCode } from "./code-blocks.js";
import { withDescription } from "./description.js";
import { withLiveParts } from "./live-parts.js";
import { rewrite, standingAlone } from "./markdown.js";
import { readPages, ROOT } from "./pages.js";
import { indexOf } from "./search-index.js";
import { projectsOf } from "./stackblitz.js";
import { pageOf, routeOfProject } from "./stackblitz-page.js";

const SITE = fileURLToPath(new URL(".", import.meta.url));
/** The folder of VitePress, which has packages of its own. */
const DOCS = join(SITE, "docs");
const PAGES = join(DOCS, ".tmp/pages");
const DIST = join(SITE, "dist");

const address = readAddress();
const { base, repository, origin = "" } = address;

/** Writes the pages for VitePress. @returns each page as Markdown that stands alone, by its file. */
async function writePages(): Promise<Map<string, string>> {
  const copies = new Map<string, string>();
  const rewriting = { repository, assets: new Set<string>(), lost: [] };
  await rm(PAGES, { recursive: true, force: true });
  const pages = await readPages();
  for (const page of pages) {
    const path = join(PAGES, page.file);
    await mkdir(dirname(path), { recursive: true });
    const text = rewrite(page, rewriting);
    copies.set(page.file, standingAlone(text, origin + base));
    const shown = withLiveParts(withShownCode(text, page.source), page.source);
    await writeFile(path, withDescription(withCards(shown, page.source)));
  }
  for (const asset of rewriting.assets) {
    await cp(join(ROOT, asset), join(PAGES, "public", asset));
  }
  const lost = rewriting.lost.length;
  if (lost > 0) {
    console.warn(
      `site: ${lost} links to files of the repository became texts, because its address is not ` +
        `known. Set "repository" in package.json, or GITHUB_REPOSITORY=<owner>/<name>`,
    );
  }
  return copies;
}

const copies = await writePages();
const vitepress = join(DOCS, "node_modules/vitepress/bin/vitepress.js");
const { status } = spawnSync(process.execPath, [vitepress, "build", DOCS], { stdio: "inherit" });
if (status !== 0) process.exit(1);
await build({ configFile: join(SITE, "app/vite.config.ts"), logLevel: "warn" });
// Write the files beside the pages, not among the sources of VitePress, which would make pages of them.
for (const [file, text] of copies) await writeFile(join(DIST, file), text);
for (const project of projectsOf(readFacts().version).values()) {
  const path = join(DIST, `${routeOfProject(project)}.html`);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, pageOf(project, address));
}
await writeFile(join(DIST, "search-index.json"), JSON.stringify(indexOf(copies)));

const problems = await problemsOf(DIST, base);
for (const problem of problems) console.error(`site: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
