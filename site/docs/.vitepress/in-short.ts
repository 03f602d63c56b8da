/** Marks the paragraph that sums up a page, so that style.css can show it as the first thing. */
import type { MarkdownOptions } from "vitepress";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

export function markdownInShort(md: MarkdownIt): void {
  md.core.ruler.push("in-short", ({ tokens }) => {
    const first = tokens.findIndex(({ content }) => /^\*\*In short:?\*\*/.test(content));
    tokens[first - 1]?.attrJoin("class", "in-short");
  });
}
