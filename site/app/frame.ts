/**
 * The frame around all pages of the demo's parts. The frame is in the HTML, so that it is shown at once.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";
import { readFacts } from "../../example-app/package-facts.js";
import { SCHEME_SCRIPT, SCHEME_SWITCH } from "../../example-app/scheme-switch.js";
import type { Address } from "../address.js";
import {
  BRAND,
  barLinksOf,
  currentOf,
  ICONS,
  isSearchKey,
  MENU,
  SEARCH_QUERY,
  searchKeysOf,
} from "../bar.js";
import { headTagsOf, htmlOf } from "../head-tags.js";
import { ICON } from "../icon.js";
import { imageSizeOf } from "../image-size.js";
import { ROOT } from "../pages.js";
import { projectsOf } from "../stackblitz.js";
import { routeOfProject } from "../stackblitz-page.js";
import { questionOf } from "./count/static-parts.js";
import { claimOf, introOf } from "./headings.js";

const sizeOf = (name: string) => {
  const { width, height } = imageSizeOf(name, readFileSync(join(ROOT, "docs/pictures", name)));
  return ` width="${width}" height="${height}"`;
};
const SIZES = { wide: sizeOf("call.svg"), narrow: sizeOf("call-narrow.svg") };

const STARTER = projectsOf(readFacts().version).get("README.md");

const footerOf = ({ base, repository }: Address) => `<footer class="site-foot">
  <p>
    This page has no server elsewhere. The package, its store in memory and the router of tRPC run
    in a web worker of this browser, and answer its hooks. A second tab of this page asks the same
    worker: press there, and both count down. The limits last until the last tab is closed.
  </p>${
    STARTER === undefined
      ? ""
      : `
  <p><a href="${base}${routeOfProject(STARTER)}">A small application to change</a>, with a server, in StackBlitz.</p>`
  }${
    repository === undefined
      ? ""
      : `
  <p><a href="${repository}">The sources</a> of the package, and of this page.</p>`
  }
</footer>`;

/** The path of a call, below what there is to try. */
const pictureOf = (base: string) => `<section class="site-picture">
  <h2>How a call goes</h2>
  <picture>
    <source vite-ignore media="(max-width: 640px)" srcset="${base}docs/pictures/call-narrow.svg"${SIZES.narrow}>
    <img vite-ignore src="${base}docs/pictures/call.svg"${SIZES.wide} loading="lazy" alt="The way of a call: page, link, middleware, one row, and by a stream back to each page.">
  </picture>
</section>`;

/**
 * The keys of the search lead to the documentation, which has it.
 *
 * The menu closes when a link is followed, even if the page stays, and on the browser's buttons. The
 * script is the last element in the bar: a browser may draw the page before the script runs, and an
 * element behind the script would move the links.
 */
const BAR_SCRIPT = `<script>
    {
      const list = document.getElementById("${MENU}");
      const close = () => list.hidePopover?.();
      list.addEventListener("click", ({ target }) => target.closest("a") && close());
      addEventListener("popstate", close);

      const search = document.querySelector(".site-search");
      search.querySelector("kbd").textContent = (${searchKeysOf.toString()})(navigator.platform);
      addEventListener("keydown", (event) => {
        if (!(${isSearchKey.toString()})(event)) return;
        event.preventDefault();
        search.click();
      });
    }
  </script>`;

/** Puts the frame into the places that a page marks with a comment. */
export function frame(address: Address): Plugin {
  const { base, repository } = address;
  const links = barLinksOf(repository);

  function headerOf(path: string): string {
    const route = path.slice(1).replace(/index\.html$/, "");
    const items = links.map((each) => {
      const href = each.link.startsWith("/") ? base + each.link.slice(1) : each.link;
      const current = currentOf(each, route);
      const mark = current === undefined ? "" : ` aria-current="${current}"`;
      return `<li><a href="${href}"${mark}>${each.text}</a></li>`;
    });
    const home = route === "" ? ` aria-current="page"` : "";
    return `<header class="site-bar">
  <a class="site-brand" href="${base}"${home}><span>${ICONS.brand}</span>${BRAND}</a>
  <a class="site-search" href="${base}docs/${SEARCH_QUERY}"><span class="icon">${ICONS.search}</span><span class="name">Search</span><kbd aria-hidden="true"></kbd></a>
  <nav aria-label="Site">
    <button class="site-menu" type="button" popovertarget="${MENU}" aria-label="Menu">${ICONS.menu}</button>
    <ul id="${MENU}" popover>${items.join("")}</ul>
  </nav>
  ${SCHEME_SWITCH}
  ${BAR_SCRIPT}
</header>`;
  }

  function headOf(html: string, shown: string): string {
    const [, title = ""] = /<title>([^<]*)<\/title>/.exec(html) ?? [];
    const [, description = ""] = /name="description"\s+content="([^"]*)"/.exec(html) ?? [];
    // `count/` leads to the first page, and is shown as that page where a link to it is posted.
    const route = shown.slice(1).replace(/^(?:count\/)?index\.html$|index\.html$/, "");
    const tags = headTagsOf({ title, description, route }, address);
    return [`<link rel="icon" href="${ICON}">`, htmlOf(tags), SCHEME_SCRIPT].join("\n");
  }

  return {
    name: "frame",
    transformIndexHtml: {
      order: "pre",
      handler: async (html, { path }) => {
        // Runs the presets, so only where their verdicts are shown.
        const question = html.includes("<!--count-->") ? await questionOf() : "";
        return html
          .replace("<!--head-->", () => headOf(html, path))
          .replace("<!--header-->", () => headerOf(path))
          .replace("<!--count-->", () => question)
          .replace("<!--claim-->", claimOf)
          .replace("<!--intro-->", introOf)
          .replace("<!--picture-->", () => pictureOf(base))
          .replace("<!--footer-->", footerOf(address));
      },
    },
  };
}
