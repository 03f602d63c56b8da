/** The text of a page as the site needs it. Links within the repository become links of the site. */
import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize, posix } from "node:path";
import { partsOf } from "./fences.js";
import { fileOf, type Page, ROOT, routeOf } from "./pages.js";

/** `[text](target)`, or an image with a `!` before it. Not an address of another site. */
const LINK = /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\((?!\w+:)([^)\s]+)\)/g;
/** An image in HTML, with an address of the repository. */
const IMAGE = /(<(?:img|source)\s[^>]*?(?:src|srcset)=")(?!\w+:)([^"\s]+)"/g;
/** The name of a file of the repository, as code. */
const SOURCE =
  /(?<!\[)`((?:core|server|client|cli|testing|prisma|example-app|test|bench|scripts)\/[\w./-]*)`(?!\])/g;

/** A page of the reference, or all pages of an entry point, as code: git does not keep these pages. */
const REFERENCE = /(?<!\[)`reference\/([\w-]+)\/(?:([\w-]+)\.md)?`(?!\])/g;

export interface Rewriting {
  /** `https://github.com/<owner>/<name>`, or `undefined` while the address is not known. */
  repository: string | undefined;
  /** Files that pages show, such as images, by their paths from the root of the repository. */
  assets: Set<string>;
  /** Links to files of the repository that became plain texts, since its address is not known. */
  lost: string[];
}

/** @throws Error about a link that leads nowhere. */
export function rewrite({ source, file, text }: Page, rewriting: Rewriting): string {
  const { repository, assets, lost } = rewriting;

  function linked(whole: string, mark: string, label: string, target: string): string {
    const [path = "", anchor] = target.split("#");
    if (path === "") return whole;
    const meant = normalize(join(dirname(source), path)).replace(/\/$/, "");
    const hash = anchor === undefined ? "" : `#${anchor}`;
    if (!existsSync(join(ROOT, meant))) {
      throw new Error(`${source} links to ${target}: no such file`);
    }
    const isFolder = statSync(join(ROOT, meant)).isDirectory();
    const page = fileOf(isFolder ? `${meant}/README.md` : meant);
    if (page !== undefined) return `[${label}](/${routeOf(page)}${hash})`;
    if (mark === "!" || /\.(?:svg|webp|png)$/.test(meant)) {
      assets.add(meant);
      return `${mark}[${label}](/${meant})`;
    }
    if (repository !== undefined) return `[${label}](${inRepository(repository, meant)}${hash})`;
    lost.push(`${source}: ${target}`);
    return label;
  }

  /** Makes a link of a file that a page names, such as the test behind a guarantee. */
  function named(whole: string, path: string): string {
    if (repository === undefined || !existsSync(join(ROOT, path))) return whole;
    return `[${whole}](${inRepository(repository, path.replace(/\/$/, ""))})`;
  }

  /** The name of a page of the reference becomes a link, with its last part as its text. */
  function inReference(_: string, entry: string, name: string | undefined): string {
    const page = `docs/reference/${entry}/${name ?? "README"}.md`;
    return `[\`${name ?? entry}\`](/${routeOf(fileOf(page)!)})`;
  }

  const isReference = file.startsWith("docs/reference/") && source !== "docs/reference.md";
  return outsideOfBlocks(text, (prose) => {
    const images = prose.replace(IMAGE, (_, before: string, target: string) => {
      const asset = posix.join(dirname(source), target);
      assets.add(asset);
      return `${before}/${asset}"`;
    });
    const links = images.replace(LINK, linked);
    if (isReference) return links;
    return links.replace(REFERENCE, inReference).replace(SOURCE, named);
  });
}

function inRepository(repository: string, path: string): string {
  const isFolder = statSync(join(ROOT, path)).isDirectory();
  return `${repository}/${isFolder ? "tree" : "blob"}/main/${path}`;
}

/** Changes only the prose: blocks of code stay as they are. */
function outsideOfBlocks(text: string, change: (prose: string) => string): string {
  return partsOf(text)
    .map((part) => (typeof part === "string" ? change(part) : part.raw))
    .join("\n");
}

/**
 * A page of the site as Markdown that stands alone, for readers who copy it or open it at its address
 * with `.md`.
 *
 * @param rewritten the text from `rewrite`.
 * @param root where the site is: its origin, if that is known, and its base.
 */
export function standingAlone(rewritten: string, root: string): string {
  return outsideOfBlocks(rewritten, (prose) =>
    prose
      .replace(/\]\(\/([^)\s#]*)(#[^)\s]*)?\)/g, (_, route: string, hash = "") => {
        const isFile = /\.\w+$/.test(route);
        const file = route === "" || route.endsWith("/") ? `${route}index` : route;
        return `](${root}${isFile ? route : `${file}.md`}${hash})`;
      })
      .replace(/((?:src|srcset)=")\//g, `$1${root}`),
  );
}
