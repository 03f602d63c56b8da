/** VitePress' own theme, in the colours of the demo, and with the fonts of the reader's system. */
import { withBase } from "vitepress";
import DefaultTheme from "vitepress/theme-without-fonts";
import { h } from "vue";
import "./style.css";

/** Its links have a target, because the page at the base is no page of VitePress. */
const NotFound = () =>
  h("main", { class: "not-found" }, [
    h("h1", "There is no such page"),
    h("p", [
      h("a", { href: withBase("/"), target: "_self" }, "Overview"),
      " · ",
      h("a", { href: withBase("/docs/") }, "All pages of the documentation"),
    ]),
  ]);

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": () => h(NotFound) }),
};
