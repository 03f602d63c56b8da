/**
 * Replaces VPSidebarGroup of VitePress. That component makes a button of each heading, with another
 * button inside. Screen readers cannot tell the two apart, and nothing opens without JavaScript.
 *
 * The group of the page is open. Groups that a reader opened stay open from page to page. On a narrow
 * page, the list is a drawer, which a link closes. VitePress closes the drawer only where another page
 * comes.
 */
import { type DefaultTheme, useData, withBase } from "vitepress";
import { defineComponent, h, nextTick, onMounted, type PropType, ref, watch } from "vue";

type Item = DefaultTheme.SidebarItem;

export default defineComponent({
  props: { items: { type: Array as PropType<Item[]>, required: true } },
  setup(props) {
    const { page } = useData();
    const isShown = (item: Item) => isPage(item, page.value.relativePath);
    const hasShown = (item: Item) => hasPage(item, page.value.relativePath);
    const namesOfShown = () => props.items.filter(hasShown).map(({ text }) => text!);

    const open = ref(new Set(namesOfShown()));
    const list = ref<HTMLElement>();
    const toShown = () => {
      const link = list.value?.querySelector<HTMLElement>("[aria-current]");
      const bar = list.value?.closest<HTMLElement>(".VPSidebar");
      if (!link || !bar) return;
      const [seen, whole] = [link.getBoundingClientRect(), bar.getBoundingClientRect()];
      // The shown link stands below the bar's head, and not at the bar's very end.
      if (seen.top < whole.top + 96 || seen.bottom > whole.bottom - 32)
        bar.scrollTop += seen.top - whole.top - whole.height / 2;
    };
    onMounted(toShown);
    watch(
      () => page.value.relativePath,
      async () => {
        for (const name of namesOfShown()) open.value.add(name);
        await nextTick();
        toShown();
      },
    );

    const links = (items: readonly Item[]) =>
      h(
        "ul",
        items.map((item) =>
          h("li", { key: item.text }, [
            item.items && item.collapsed !== undefined
              ? h("details", { class: "side-pages", open: hasShown(item) }, [
                  h("summary", item.text),
                  links(item.items),
                ])
              : item.items
                ? [h("p", { class: "side-heading" }, item.text), links(item.items)]
                : h(
                    "a",
                    {
                      href: withBase(item.link!),
                      "aria-current": isShown(item) ? ("page" as const) : undefined,
                      onClick: closeDrawer,
                    },
                    item.text,
                  ),
          ]),
        ),
      );
    const toggled = (name: string, event: Event) => {
      if ((event.currentTarget as HTMLDetailsElement).open) open.value.add(name);
      else open.value.delete(name);
    };
    return () =>
      h(
        "div",
        { class: "side-groups", ref: list },
        props.items.map(({ text = "", items = [] }) =>
          h(
            "details",
            {
              key: text,
              open: open.value.has(text),
              onToggle: (event: Event) => toggled(text, event),
            },
            [h("summary", text), links(items)],
          ),
        ),
      );
  },
});

/** A click on the backdrop around the drawer closes it. The backdrop is there while the drawer is open. */
const closeDrawer = () => document.querySelector<HTMLElement>(".VPBackdrop")?.click();

const isPage = ({ link }: Item, file: string) => link !== undefined && fileOf(link) === file;

/** Whether the page is the item itself, or stands below it. */
export const hasPage = (item: Item, file: string): boolean =>
  isPage(item, file) || (item.items ?? []).some((each) => hasPage(each, file));

/** The page's file, from the address of its link. */
function fileOf(link: string): string {
  return `${link.slice(1)}${link.endsWith("/") ? "index" : ""}.md`;
}
