/**
 * Pictures have their size in the page, so that nothing moves when they load. Each picture links to its
 * file.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { MarkdownOptions } from "vitepress";
import { readAddress } from "../../address.js";
import { imageSizeOf } from "../../image-size.js";
import { ROOT } from "../../pages.js";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

const { base } = readAddress();

/** The address of a picture begins at the root of the repository. */
const sizeOf = (src: string) => imageSizeOf(src, readFileSync(join(ROOT, src)));

export function markdownPictures(md: MarkdownIt): void {
  const image = md.renderer.rules.image!;
  md.renderer.rules.image = (...args) => {
    const [tokens, index] = args;
    const token = tokens[index]!;
    const src = decodeURIComponent(token.attrGet("src") ?? "");
    if (!src.startsWith("/")) return image(...args);
    const { width, height } = sizeOf(src);
    token.attrSet("width", `${width}`);
    token.attrSet("height", `${height}`);
    token.attrSet("loading", "lazy");
    const html = image(...args);
    // On a phone, the letters of a wide drawing are small. The file alone can be zoomed.
    const isLinked = tokens[index - 1]?.type === "link_open";
    return isLinked ? html : `<a href="${base}${src.slice(1)}" target="_self">${html}</a>`;
  };

  const html = md.renderer.rules.html_block!;
  md.renderer.rules.html_block = (...args) =>
    inBothThemes(html(...args).replace(/<(?:img|source)\s[^>]*>/g, withSize));

  // A cell without a text would be an empty heading, which screen readers would announce.
  const { th_open: open, th_close: close } = md.renderer.rules;
  const isEmpty = (tokens: { content: string }[], index: number) => tokens[index]?.content === "";
  md.renderer.rules.th_open = (tokens, index, options, env, self) => {
    if (isEmpty(tokens, index + 1)) return "<td>";
    return open?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  };
  md.renderer.rules.th_close = (tokens, index, options, env, self) => {
    if (isEmpty(tokens, index - 1)) return "</td>\n";
    return close?.(tokens, index, options, env, self) ?? self.renderToken(tokens, index, options);
  };
}

const IS_DARK = "(prefers-color-scheme: dark)";

/**
 * A picture with a source for the dark scheme follows the theme of the page, which may differ from the
 * system's. So the picture is there twice, and pictures.css hides one. A hidden lazy picture is not
 * loaded.
 */
function inBothThemes(block: string): string {
  return block.replace(/<picture>[^]*?<\/picture>/g, (picture) => {
    if (!picture.includes(IS_DARK)) return picture;
    const lazy = picture.replace("<img ", '<img loading="lazy" ');
    const of = (theme: string, condition: string) =>
      lazy.replace("<picture>", `<picture class="in-${theme}">`).replaceAll(IS_DARK, condition);
    return of("light", "(max-width: 0)") + of("dark", "(min-width: 0)");
  });
}

/** An element of HTML with the size of its picture. A width that the element has stays. */
function withSize(element: string): string {
  const src = /\s(?:src|srcset)="(\/[^"\s]+)"/.exec(element)?.[1];
  if (src === undefined || /\sheight="/.test(element)) return element;
  const { width, height } = sizeOf(src);
  const shown = Number(/\swidth="(\d+)"/.exec(element)?.[1] ?? width);
  const size = ` width="${shown}" height="${Math.round((height * shown) / width)}"`;
  return element.replace(/\swidth="\d+"/, "").replace(/\s*\/?>$/, `${size}>`);
}
