/**
 * How blocks of code are drawn: with the title that `site/code-blocks.ts` gave them, and no line cut off.
 */
import type { MarkdownOptions } from "vitepress";
import { isDrawing } from "../../code-blocks.js";
import { tabKindOf } from "../../tab-kinds.js";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];
type Transformer = NonNullable<MarkdownOptions["codeTransformers"]>[number];

const TITLE = / title=(\S+)/;

/** Puts the title before the button that copies, since the button takes the block two elements later. */
export function markdownCode(md: MarkdownIt): void {
  const { escapeHtml } = md.utils;
  const fence = md.renderer.rules.fence!;
  md.renderer.rules.fence = (...args) => {
    const [tokens, index] = args;
    const token = tokens[index]!;
    const title = TITLE.exec(token.info)?.[1];
    token.info = token.info.replace(TITLE, "");
    const html = fence(...args);
    if (title === undefined) return html;
    const text = escapeHtml(decodeURIComponent(title));
    return html.replace(/^<div [^>]*>/, (open) => `${open}<p class="code-title" v-pre>${text}</p>`);
  };

  // Vue would compute what stands between these braces in a sentence.
  for (const rule of ["text", "code_inline"] as const) {
    const before = md.renderer.rules[rule]!;
    md.renderer.rules[rule] = (...args) => before(...args).replaceAll("{{", "&#123;&#123;");
  }

  const group = md.renderer.rules["container_code-group_open"]!;
  md.renderer.rules["container_code-group_open"] = (...args) => {
    const html = group(...args);
    const labels = [...html.matchAll(/data-title="([^"]*)"/g)].map(([, label]) => label!);
    const kind = tabKindOf(labels);
    return html
      .replace("<div ", `<div data-kind="${kind}" `)
      .replace(`<div class="tabs">`, `<div class="tabs" role="radiogroup" aria-label="${kind}">`);
  };
}

/**
 * A line that is too long goes on below itself, indented further than its beginning. A drawing has
 * letters as small as it needs. So no block scrolls, and no block must be reachable with the keyboard for
 * scrolling.
 */
export const hangingLines: Transformer = {
  name: "hanging-lines",
  line(node) {
    const [indent] = /^ */.exec(textOf(node))!;
    if (indent !== "") node.properties["style"] = `--indent:${indent.length}ch`;
  },
  pre(node) {
    delete node.properties["tabindex"];
    if (this.options.lang !== "text" || !isDrawing(this.source)) return;
    const columns = Math.max(...this.source.split("\n").map((line) => line.length));
    this.addClassToHast(node, "drawing");
    node.properties["style"] = `${node.properties["style"] ?? ""};--columns:${columns}`;
  },
};

interface Node {
  value?: string;
  children?: readonly unknown[];
}

function textOf({ value = "", children = [] }: Node): string {
  return children.reduce<string>((text, child) => text + textOf(child as Node), value);
}
