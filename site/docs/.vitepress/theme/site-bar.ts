/**
 * The bar of the site. This bar replaces VPNav of VitePress, so that the documentation and the pages of
 * the demo's parts have the same bar.
 */
import { type DefaultTheme, useData, withBase } from "vitepress";
import { defineAsyncComponent, defineComponent, h, onMounted, onUnmounted, ref } from "vue";
import {
  BRAND,
  barLinksOf,
  currentOf,
  ICONS,
  isSearchKey,
  MENU,
  SEARCH_QUERY,
  searchKeysOf,
} from "../../../bar.js";
import "../../../bar.css";

/** Loaded when a reader opens it. */
const SearchBox = defineAsyncComponent(() => import("./search-box.js"));
const isSearchOpen = ref(false);
export const openSearch = () => void (isSearchOpen.value = true);

function onKeydown(event: KeyboardEvent): void {
  const isField = (event.target as HTMLElement).closest?.("input, textarea, select") != null;
  if (!isSearchKey(event) && (event.key !== "/" || isField)) return;
  event.preventDefault();
  openSearch();
}

export default defineComponent({
  setup() {
    const { page, isDark, theme } = useData<DefaultTheme.Config & { repository?: string }>();
    const list = ref<HTMLElement>();
    /** The pages are built with the light scheme. A script sets the colours before the page is shown. */
    const isShown = ref(false);
    const close = () => list.value?.hidePopover?.();
    onMounted(() => {
      isShown.value = true;
      // The browser's own buttons close the menu, too. A link that is followed closes it below.
      addEventListener("popstate", close);
      addEventListener("keydown", onKeydown);
      if (location.search !== SEARCH_QUERY) return;
      history.replaceState(history.state, "", location.pathname);
      openSearch();
    });
    onUnmounted(() => {
      removeEventListener("popstate", close);
      removeEventListener("keydown", onKeydown);
    });

    const route = () => page.value.relativePath.replace(/(?:^|(?<=\/))index\.md$|\.md$/, "");
    const links = () =>
      barLinksOf(theme.value.repository).map((each) => {
        // The pages of the demo's parts do not belong to VitePress. A link with a target is left to the
        // browser.
        const target = each.link.startsWith("/docs/") ? undefined : "_self";
        const href = each.link.startsWith("/") ? withBase(each.link) : each.link;
        const current = currentOf(each, route());
        return h(
          "li",
          h("a", { href, target, "aria-current": current, onClick: close }, each.text),
        );
      });
    return () =>
      h("header", { class: "VPNav site-bar" }, [
        h("a", { class: "site-brand", href: withBase("/"), target: "_self" }, [
          h("span", { innerHTML: ICONS.brand }),
          BRAND,
        ]),
        h("button", { type: "button", class: "site-search needs-js", onClick: openSearch }, [
          h("span", { class: "icon", innerHTML: ICONS.search }),
          h("span", { class: "name" }, "Search"),
          h(
            "kbd",
            { "aria-hidden": "true" },
            isShown.value ? searchKeysOf(navigator.platform) : undefined,
          ),
        ]),
        isSearchOpen.value &&
          h(SearchBox, {
            onClose: () => {
              isSearchOpen.value = false;
            },
          }),
        h("nav", { "aria-label": "Site" }, [
          h("button", {
            type: "button",
            class: "site-menu",
            popovertarget: MENU,
            "aria-label": "Menu",
            innerHTML: ICONS.menu,
          }),
          h("ul", { id: MENU, popover: "", ref: list }, links()),
        ]),
        h("button", {
          type: "button",
          class: "site-scheme",
          role: "switch",
          hidden: !isShown.value,
          "aria-label": "Dark theme",
          "aria-checked": isShown.value && isDark.value,
          onClick: () => void (isDark.value = !isDark.value),
          innerHTML: ICONS.scheme,
        }),
      ]);
  },
});
