/**
 * The blocks of code of a page as the site shows them. The path in the first line of a block becomes the
 * block's title. Commands of npm become tabs. Blocks below a comment with names become tabs, too.
 */
import { type Fence, fenceOf, partsOf } from "./fences.js";
import { inAllManagers, MANAGERS } from "./package-managers.js";

/** The comment in the first line of a block, in any of the languages. */
const COMMENT = /^(?:\/\/|#|--|<!--|\/\*)\s*(\S+?)\s*(?:-->|\*\/)?\s*$/;
/** The path of a file. A name without a folder must begin in lower case: `Node.js` is not a file. */
const PATH =
  /^(?:[\w.@()[\]$+-]+\/)+[\w.@()[\]$+-]+\.[a-z]\w*$|^\.?[a-z][\w.$-]*\.(?:[cm]?[jt]sx?|jsonc?|html|css|sql|prisma|sh|ya?ml|toml|md|vue|svelte|conf)$|^\.env(?:\.\w+)*$/;
/** Lines to highlight, as `{2,4-6}` after the language. */
const LINES = /\{([\d,-]+)\}/;
/** `<!-- tabs: Prisma, Drizzle, pg -->` stands above as many blocks as it has names. */
const TABS = /<!-- tabs: ([^\n]+?) -->\s*$/;
const SHELL = /^(?:sh|bash|shell)$/;

/**
 * @param source the page's file, for errors.
 * @returns Markdown of VitePress: its configuration reads the `title=` behind the language.
 * @throws Error about tabs that have no blocks.
 */
export function withShownCode(text: string, source: string): string {
  const shown: string[] = [];
  let labels: string[] = [];
  let tabs: string[] = [];
  for (const part of partsOf(text)) {
    if (typeof part !== "string") {
      const label = labels[tabs.length];
      if (label === undefined) shown.push(blockOf(part));
      else {
        tabs.push(titled(part, label));
        if (tabs.length < labels.length) continue;
        shown.push(groupOf(part.indent, tabs));
        [labels, tabs] = [[], []];
      }
      continue;
    }
    if (labels.length > 0) {
      if (part.trim() === "") continue;
      throw new Error(`${source}: of the tabs ${labels.join(", ")}, ${tabs.length} have a block`);
    }
    const named = TABS.exec(part);
    if (named !== null) labels = named[1]!.split(",").map((label) => label.trim());
    shown.push(named === null ? part : part.slice(0, named.index));
  }
  if (labels.length > 0)
    throw new Error(`${source}: of the tabs ${labels.join(", ")}, ${tabs.length} have a block`);
  return shown.join("\n");
}

function blockOf(fence: Fence): string {
  const { indent, info, lines } = fence;
  const commands = SHELL.test(info) ? inAllManagers(lines) : undefined;
  if (commands === undefined) return titled(fence);
  const tabs = MANAGERS.map((name) => fenceOf(indent, `${info} [${name}]`, commands[name]));
  return groupOf(indent, tabs);
}

function groupOf(indent: string, tabs: readonly string[]): string {
  return [`${indent}::: code-group`, "", tabs.join("\n\n"), "", `${indent}:::`].join("\n");
}

/** A block with its path as its title. The code loses the line with the path. */
function titled(fence: Fence, label?: string): string {
  const { indent, info, lines, raw } = fence;
  const path = pathOf(fence);
  if (path === undefined && label === undefined) return raw;
  const language = /^[^\s{]*/.exec(info)![0];
  const gone = path === undefined ? 0 : lines[1]?.trim() === "" ? 2 : 1;
  const meta = [
    label === undefined ? "" : ` [${label}]`,
    // Encoded, so without spaces and brackets, which other readers of this line would take for their own.
    path === undefined ? "" : ` title=${encodeURIComponent(path)}`,
  ].join("");
  return fenceOf(indent, language + linesOf(info, gone) + meta, lines.slice(gone));
}

/** The file that a block is part of; `undefined` if its first line names no file, or is its only line. */
export function pathOf({ lines }: Pick<Fence, "lines">): string | undefined {
  const path = COMMENT.exec(lines[0] ?? "")?.[1];
  const hasCode = lines.slice(1).some((line) => line.trim() !== "");
  return path !== undefined && hasCode && PATH.test(path) ? path : undefined;
}

/** Pages count the lines as they stand in the block, including the line with the path. */
function linesOf(info: string, gone: number): string {
  const named = LINES.exec(info)?.[1];
  if (named === undefined) return "";
  const kept = named.split(",").flatMap((range) => {
    const [from = NaN, to = from] = range
      .split("-")
      .map((line) => Number.parseInt(line, 10) - gone);
    if (Number.isNaN(from) || Number.isNaN(to) || to < 1 || to < from) return [];
    const first = Math.max(1, from);
    return first === to ? `${to}` : `${first}-${to}`;
  });
  return kept.length > 0 ? `{${kept.join(",")}}` : "";
}

/** Whether a text is a drawing made of letters. Broken lines would destroy the drawing. */
export function isDrawing(text: string): boolean {
  return /[\u2500-\u257F]|\+-{2,}|--+>/.test(text);
}
