/**
 * The sections of a page: what the search finds, and what an excerpt is taken from. The build reads the
 * sections from a page's Markdown, and the search box reads them again from the same Markdown.
 */
import { plain } from "./description.js";
import { type Part, partsOf } from "./fences.js";
import { slugOf } from "./slug.js";

export interface Section {
  /** Of the section's heading. `""`: the beginning of the page. */
  anchor: string;
  title: string;
  /** Without the marks of Markdown. Blocks of code are part of it. */
  text: string;
}

const HEADING = /^#{1,4} (.*)$/;

/** @returns the sections in their order. The first one has the title of the page. */
export function sectionsOf(markdown: string): Section[] {
  const sections: Section[] = [];
  const seen = new Map<string, number>();
  let lines: string[] = [];

  function end(): void {
    const last = sections.at(-1);
    if (last) last.text = textOf(lines.join("\n"));
    lines = [];
  }
  for (const part of partsOf(markdown.replace(/^---\n[\s\S]*?\n---\n/, ""))) {
    for (const line of linesOf(part)) {
      const [, heading] = (typeof part === "string" && HEADING.exec(line)) || [];
      if (heading === undefined) {
        lines.push(line);
        continue;
      }
      end();
      const title = plain(heading);
      const slug = slugOf(title);
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      const anchor = count === 0 ? slug : `${slug}-${count}`;
      sections.push({ anchor: sections.length === 0 ? "" : anchor, title, text: "" });
    }
  }
  end();
  return sections;
}

/** Code stays as it is, behind a mark that `textOf` knows: there, `#` and `|` mean something else. */
const linesOf = (part: Part) =>
  typeof part === "string" ? part.split("\n") : [CODE + part.lines.join(" ")];
const CODE = "\u0000";

function textOf(markdown: string): string {
  return markdown
    .split("\n")
    .map((line) =>
      line.startsWith(CODE)
        ? line.slice(CODE.length)
        : plain(line.replace(/^\s*(?:[-*+]|\d+\.|>(?: \[!\w+\])?) /, "").replace(CELLS, " ")),
    )
    .join(" ")
    .replace(/&(lt|gt|amp);/g, (_, name: "lt" | "gt" | "amp") => ENTITIES[name])
    .replace(/\s+/g, " ")
    .trim();
}

/** The bars of a table, and the line below its head. */
const CELLS = /(?<!\\)\|(?:\s*:?-+:?\s*(?=\|))?/g;
const ENTITIES = { lt: "<", gt: ">", amp: "&" };
