/** The documentation as pages. `site/build.ts` writes their Markdown to `.tmp/pages` first. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { readAddress, starterOf } from "../../address.js";
import { ICON } from "../../icon.js";
import { slugOf } from "../../markdown.js";
import { readPages } from "../../pages.js";
import { sidebarsOf } from "../../sidebar.js";

const { base, repository } = readAddress();

export default defineConfig({
  title: "trpc-rate-limit",
  titleTemplate: ":title · trpc-rate-limit",
  description: "Rate limits for tRPC, Prisma and React: exact, transactional, typed and live.",
  lang: "en",
  base,
  head: [["link", { rel: "icon", href: ICON }]],
  srcDir: ".tmp/pages",
  outDir: "../dist",
  cleanUrls: true,
  // The guides name the addresses of servers that they start.
  ignoreDeadLinks: "localhostLinks",
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    // The page at the base is no page of VitePress. A link with a target is left to the browser.
    logoLink: { link: base, target: "_self" },
    nav: [
      { text: "Overview", link: "/", target: "_self" },
      { text: "Playground", link: "/playground/", target: "_self" },
      { text: "Docs", link: "/docs/", activeMatch: "^/docs/(?!how-fast|changelog)" },
      { text: "How fast", link: "/docs/how-fast" },
      { text: "Changes", link: "/docs/changelog" },
      ...(repository === undefined ? [] : [{ text: "Try it", link: starterOf(repository) }]),
    ],
    sidebar: { ...sidebarsOf(await readPages()) },
    outline: { level: [2, 3], label: "On this page" },
    search: { provider: "local" },
    docFooter: { prev: "Before", next: "After" },
    externalLinkIcon: true,
    ...(repository !== undefined && { socialLinks: [{ icon: "github", link: repository }] }),
  },
  vite: {
    // Browsers of the last years, as for the demo's parts. The oldest ones of Vite 5 have no destructuring,
    // which newer versions of esbuild do not replace.
    build: { target: "es2022", chunkSizeWarningLimit: 4_000 },
  },
});
