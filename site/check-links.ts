/** Finds links between the built pages that lead nowhere: to no file, or to no place in a file. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * @param folder the built site.
 * @param base the path that the site is served at.
 * @returns a line for each such link, and for each address that belongs neither to the site nor to
 *   another one.
 */
export async function problemsOf(folder: string, base: string): Promise<string[]> {
  const files = new Set(await readdir(folder, { recursive: true }));
  const pages = [...files].filter((file) => file.endsWith(".html"));
  const texts = new Map(
    await Promise.all(
      pages.map(async (page) => [page, await readFile(join(folder, page), "utf8")] as const),
    ),
  );
  const ids = new Map([...texts].map(([page, text]) => [page, idsIn(text)]));

  return [...texts].flatMap(([page, text]) => {
    const here = new URL(`${base}${page.replace(/\.html$/, "")}`, "http://site");
    return [...new Set(targetsIn(text))].flatMap((target) => {
      const url = new URL(target, here);
      if (url.origin !== here.origin) return [];
      if (!url.pathname.startsWith(base)) return [`${page} links to ${target}, outside of ${base}`];
      const path = decodeURIComponent(url.pathname.slice(base.length));
      const found = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].find(
        (file) =>
          file !== "" && files.has(file) && !(file === path && files.has(`${path}/index.html`)),
      );
      if (found === undefined) return [`${page} links to ${target}: no such file`];
      const anchor = decodeURIComponent(url.hash.slice(1));
      return anchor === "" || ids.get(found)?.has(anchor)
        ? []
        : [`${page} links to ${target}: no such place`];
    });
  });
}

function idsIn(html: string): Set<string> {
  return new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => unescaped(id!)));
}

function targetsIn(html: string): string[] {
  const found = html.matchAll(/<(?:a|img|script|link|source)\s[^>]*?\s?(?:href|src)="([^"]+)"/g);
  return [...found]
    .map(([, target]) => unescaped(target!))
    .filter((target) => !target.startsWith("data:"));
}

function unescaped(text: string): string {
  return text.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
}
