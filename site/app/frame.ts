/** What all pages of the demo's parts have around them. It is in the HTML, so that it is there at once. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { type Address, starterOf } from "../address.js";
import { headTagsOf, htmlOf } from "../head-tags.js";
import { ICON } from "../icon.js";
import { imageSizeOf } from "../image-size.js";
import { ROOT } from "../pages.js";
import { heroOf, introOf } from "./hero.js";
import { SCHEME_SCRIPT, SCHEME_SWITCH } from "./scheme.js";

const sizeOf = (name: string) => {
  const { width, height } = imageSizeOf(name, readFileSync(join(ROOT, "docs/pictures", name)));
  return ` width="${width}" height="${height}"`;
};
const SIZES = { wide: sizeOf("call.svg"), narrow: sizeOf("call-narrow.svg") };

const footerOf = (repository: string | undefined) => `<footer class="site-foot">
  <p>
    This page has no server elsewhere. The package, its store in memory and the router of tRPC run
    in a web worker of this tab, and answer its hooks. Another tab has a worker, and limits, of its
    own, until it is closed or loaded again.
  </p>${
    repository === undefined
      ? ""
      : `
  <p>
    <a href="${starterOf(repository)}">A small application to change</a>, with a server, in StackBlitz.
    <a href="${repository}">The sources</a> of the package, and of this page.
  </p>`
  }
</footer>`;

/** The way of a call, below what there is to try. */
const pictureOf = (base: string) => `<section class="site-picture">
  <h2>How a call goes</h2>
  <picture>
    <source vite-ignore media="(max-width: 640px)" srcset="${base}docs/pictures/call-narrow.svg"${SIZES.narrow}>
    <img vite-ignore src="${base}docs/pictures/call.svg"${SIZES.wide} loading="lazy" alt="The way of a call: page, link, middleware, one row, and by a stream back to each page.">
  </picture>
</section>`;

/** Puts them in the places that a page marks with a comment. */
export function frame(address: Address): Plugin {
  const { base, repository } = address;
  const links: [title: string, href: string, page?: string][] = [
    ["Overview", base, "/index.html"],
    ["Playground", `${base}playground/`, "/playground/index.html"],
    ["Docs", `${base}docs/`],
    ["How fast", `${base}docs/how-fast`],
  ];
  if (repository !== undefined) links.push(["GitHub", repository]);

  function headerOf(shown: string): string {
    const items = links.map(([title, href, page]) => {
      const current = page === shown ? ` aria-current="page"` : "";
      return `<li><a href="${href}"${current}>${title}</a></li>`;
    });
    return `<header class="site-bar">
  <a class="site-brand" href="${base}">trpc-rate-limit</a>
  <nav aria-label="Site"><ul>${items.join("")}</ul></nav>
  ${SCHEME_SWITCH}
</header>`;
  }

  function headOf(html: string, shown: string): string {
    const [, title = ""] = /<title>([^<]*)<\/title>/.exec(html) ?? [];
    const [, description = ""] = /name="description"\s+content="([^"]*)"/.exec(html) ?? [];
    const route = shown.slice(1).replace(/index\.html$/, "");
    const tags = headTagsOf({ title, description, route }, address);
    return [`<link rel="icon" href="${ICON}">`, htmlOf(tags), SCHEME_SCRIPT].join("\n");
  }

  return {
    name: "frame",
    transformIndexHtml: {
      order: "pre",
      handler: (html, { path }) =>
        html
          .replace("<!--head-->", () => headOf(html, path))
          .replace("<!--header-->", () => headerOf(path))
          .replace("<!--hero-->", heroOf)
          .replace("<!--intro-->", introOf)
          .replace("<!--picture-->", () => pictureOf(base))
          .replace("<!--footer-->", footerOf(repository)),
    },
  };
}
