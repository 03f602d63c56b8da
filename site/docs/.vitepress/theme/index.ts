/** VitePress' own theme, in the colours of the demo, and with the fonts of the reader's system. */
import { onContentUpdated, type Theme, withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { defineComponent, h, onMounted } from "vue";
import { rememberTabs, showChosenTabs } from "./code-tabs.js";
import LivePart from "./live-part.js";
import PageAsMarkdown from "./page-as-markdown.js";
import { openSearch } from "./site-bar.js";
import "./style.css";
import "./code.css";
import "./tables.css";
import "./cards.css";
import "./not-found.css";
import "./sidebar-groups.css";
import "./pictures.css";
import "./live-part.css";
import "./print.css";

/** The first link has a target, because the page at the base does not belong to VitePress. */
const NotFound = () =>
  h("main", { class: "not-found" }, [
    h("h1", "There is no such page"),
    h("p", "It may have another address now."),
    // The answer that a limiter would give to the next try.
    h("pre", { "aria-hidden": "true" }, "{ ok: false, retryAfter: Infinity }"),
    h("p", { class: "needs-js" }, [
      h("button", { type: "button", onClick: openSearch }, "Search the documentation"),
    ]),
    h("ul", [
      h("li", h("a", { href: withBase("/docs/guides/vite") }, "Quick start")),
      h("li", h("a", { href: withBase("/docs/") }, "All pages of the documentation")),
      h("li", h("a", { href: withBase("/"), target: "_self" }, "Overview")),
    ]),
  ]);

const Layout = defineComponent({
  setup() {
    onMounted(rememberTabs);
    onContentUpdated(() => showChosenTabs());
    return () =>
      h(DefaultTheme.Layout, null, {
        "not-found": () => h(NotFound),
        "doc-before": () => h(PageAsMarkdown),
      });
  },
});

export default {
  extends: DefaultTheme,
  Layout,
  enhanceApp: ({ app }) => void app.component("LivePart", LivePart),
} satisfies Theme;
