/**
 * For Vite: `import { Composer } from "block:docs/mutations.md#client/composer.tsx"` runs a block of code
 * of a page. So an example cannot differ from the code below it. Files that the block imports are beside
 * this file, such as `client/limits.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { pathOf } from "../../code-blocks.js";
import { partsOf } from "../../fences.js";
import { ROOT } from "../../pages.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const NAME = /^block:(docs\/[\w/-]+\.md)#(\S+)$/;

/**
 * @param page the text of a page.
 * @returns the code of its first block with this path. Of tabs, that is the first one.
 */
export function blockIn(page: string, path: string): string | undefined {
  const block = partsOf(page).find((part) => typeof part !== "string" && pathOf(part) === path);
  return typeof block === "object" ? block.lines.join("\n") : undefined;
}

export function blocksOfPages(): Plugin {
  /** The page of each block, by the path at which the block would be a file. */
  const pages = new Map<string, { page: string; path: string }>();
  return {
    name: "blocks of pages",
    enforce: "pre",
    resolveId(source) {
      const [, page, path] = NAME.exec(source) ?? [];
      if (page === undefined || path === undefined) return null;
      const id = join(HERE, path);
      pages.set(id, { page, path });
      return id;
    },
    load(id) {
      const named = pages.get(id);
      if (named === undefined) return null;
      const file = join(ROOT, named.page);
      this.addWatchFile(file);
      const code = blockIn(readFileSync(file, "utf8"), named.path);
      if (code === undefined) throw new Error(`${named.page} has no block "${named.path}"`);
      return code;
    },
  };
}
