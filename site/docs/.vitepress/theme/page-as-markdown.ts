/**
 * The line above a page: the group of the page, and the page as Markdown, to copy or to read, for a
 * coding assistant or an issue. A guide that runs in a browser has a link that opens it there.
 */
import { type DefaultTheme, useData, withBase } from "vitepress";
import { computed, defineComponent, h, ref, watch } from "vue";
import { hasPage } from "./sidebar-groups.js";

/** How long the button says what it did, ms. */
const SAID_FOR = 4_000;

export default defineComponent({
  setup() {
    const { page, theme } = useData<DefaultTheme.Config & { projects: Record<string, string> }>();
    const group = computed(() => {
      const groups = theme.value.sidebar as DefaultTheme.SidebarItem[];
      return groups.find((each) => hasPage(each, page.value.relativePath))?.text;
    });
    const address = computed(() => withBase(`/${page.value.relativePath}`));
    const project = computed(() => theme.value.projects[page.value.relativePath]);
    const said = ref("");
    watch(address, () => {
      said.value = "";
    });

    async function copy(): Promise<void> {
      const copied = address.value;
      try {
        // Safari allows the write only directly after the click, with a text that may come later.
        const text = fetch(copied).then((answer) => {
          if (!answer.ok) throw new Error(`${copied}: ${answer.status}`);
          return answer.text();
        });
        const blob = text.then((whole) => new Blob([whole], { type: "text/plain" }));
        await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
        said.value = "Copied";
      } catch {
        said.value = "It could not be copied. The link beside this opens it.";
      }
      setTimeout(() => {
        said.value = "";
      }, SAID_FOR);
    }

    return () =>
      h("section", { class: "as-markdown", "aria-label": "This page as Markdown" }, [
        h("p", group.value),
        h("button", { type: "button", class: "needs-js", onClick: copy }, "Copy page as Markdown"),
        // The link has a target, so that the browser opens it: the file is not a page of VitePress.
        h("a", { href: address.value, target: "_self" }, "View as Markdown"),
        project.value === undefined
          ? undefined
          : h("a", { href: withBase(project.value), target: "_blank" }, "Open in StackBlitz"),
        h("span", { role: "status" }, said.value),
      ]);
  },
});
