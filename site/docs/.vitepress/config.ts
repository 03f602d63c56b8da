/** The documentation as pages. `site/build.ts` writes their Markdown to `.tmp/pages` first. */
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";
import { readFacts } from "../../../example-app/package-facts.js";
import { readAddress } from "../../address.js";
import { SITE_DESCRIPTION } from "../../description.js";
import { headTagsOf } from "../../head-tags.js";
import { ICON } from "../../icon.js";
import { fileOf, readPages, routeOf } from "../../pages.js";
import { sidebarOf } from "../../sidebar.js";
import { slugOf } from "../../slug.js";
import { projectsOf } from "../../stackblitz.js";
import { routeOfProject } from "../../stackblitz-page.js";
import { hangingLines, markdownCode } from "./code.js";
import { codeTheme } from "./code-theme.js";
import { markdownInShort } from "./in-short.js";
import { markdownPictures } from "./pictures.js";
import { TABS_SCRIPT } from "./theme/code-tabs.js";

/** The pages that send a project to StackBlitz, by the files of the pages that link to them. */
const projects = Object.fromEntries(
  [...projectsOf(readFacts().version)].map(([page, project]) => [
    fileOf(page)!,
    `/${routeOfProject(project)}`,
  ]),
);

const address = readAddress();
const { base, repository } = address;

/**
 * On the page for missing addresses: "docs/limits/" leads to "docs/limits", and "docs/reference.html" to
 * "docs/reference". VitePress would show a frame without a page there.
 */
const WITHOUT_END = `{
  const { pathname, search, hash } = location;
  const page = pathname.replace(/\\.html$|\\/+$/, "");
  if (page !== pathname && pathname !== "${base}") location.replace(page + search + hash);
}`;

/** Uses a component of this theme instead of a component of VitePress. */
const standIn = (component: string, file: string) => ({
  find: new RegExp(`^.*/${component}\\.vue$`),
  replacement: fileURLToPath(new URL(`theme/${file}`, import.meta.url)),
});

export default defineConfig<
  DefaultTheme.Config & { repository: string | undefined; projects: Record<string, string> }
>({
  title: "trpc-rate-limit",
  titleTemplate: ":title · trpc-rate-limit",
  description: SITE_DESCRIPTION,
  lang: "en",
  base,
  head: [
    ["link", { rel: "icon", href: ICON }],
    // Elements that need JavaScript are hidden without this class.
    ["script", {}, `document.documentElement.classList.add("js")`],
    ["script", {}, TABS_SCRIPT],
  ],
  transformHead({ page, pageData, description }) {
    if (page === "404.md") return [["script", {}, WITHOUT_END]];
    const posted = { title: pageData.title, description, route: routeOf(page) };
    // If the head has a description, VitePress leaves out its own, in which a quote would end the
    // attribute.
    return [
      ["meta", { name: "description", content: description }],
      ...headTagsOf(posted, address),
    ];
  },
  transformHtml: (html, _file, { page }) =>
    page === "404.md"
      ? // VitePress writes this page with JavaScript alone.
        html.replace(
          /<\/body>/,
          `<noscript><main class="not-found"><h1>There is no such page</h1><ul>
            <li><a href="${base}docs/guides/vite">Quick start</a></li>
            <li><a href="${base}docs/">All pages of the documentation</a></li>
            <li><a href="${base}">Overview</a></li>
          </ul></main></noscript></body>`,
        )
      : undefined,
  // VitePress would otherwise fetch the text of each page that the list names in advance.
  router: { prefetchLinks: false },
  srcDir: ".tmp/pages",
  outDir: "../dist",
  cleanUrls: true,
  // The guides name addresses of servers that the reader starts.
  ignoreDeadLinks: "localhostLinks",
  markdown: {
    anchor: { slugify: slugOf },
    config(md) {
      markdownCode(md);
      markdownPictures(md);
      markdownInShort(md);
    },
    codeTransformers: [hangingLines],
    codeCopyButtonTitle: "Copy the code",
    theme: codeTheme,
  },
  themeConfig: {
    // The bar's links need the repository. See theme/site-bar.ts.
    repository,
    projects,
    sidebar: sidebarOf(await readPages()),
    // On a narrow page, "Menu" is the label of the bar's menu.
    sidebarMenuLabel: "Pages",
    outline: { level: [2, 3], label: "On this page" },
    docFooter: { prev: "Previous", next: "Next" },
    externalLinkIcon: true,
  },
  vite: {
    resolve: {
      alias: [standIn("VPSidebarGroup", "sidebar-groups.ts"), standIn("VPNav", "site-bar.ts")],
    },
    // Browsers of the last years, as for the demo's parts. The oldest browsers of Vite 5's default have
    // no destructuring, which newer versions of esbuild do not replace.
    build: { target: "es2022", chunkSizeWarningLimit: 4_000 },
  },
});
