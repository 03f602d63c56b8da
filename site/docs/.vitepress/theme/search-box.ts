/**
 * The search of the documentation: a field, and below it the sections that were found, each with the text
 * in which the words stand. The index has no texts. An excerpt comes from the Markdown of its page.
 */
import { withBase } from "vitepress";
import { defineComponent, h, nextTick, onMounted, ref, shallowRef, watch } from "vue";
import { ICONS } from "../../../bar.js";
import { excerptOf, markedIn, type Piece } from "../../../excerpt.js";
import { createSearch, type Found, type SearchIndex } from "../../../search.js";
import { type Section, sectionsOf } from "../../../sections.js";
import synonyms from "../../../synonyms.json";
import "./search-box.css";

type Search = (query: string) => Found[];
let search: Promise<Search> | undefined;
/** The sections of each page that was found, by its address. */
const pages = new Map<string, Promise<Section[]>>();
/** Stays while the reader goes from page to page. */
const query = ref("");

async function load(): Promise<Search> {
  const answer = await fetch(withBase("/search-index.json"));
  if (!answer.ok) throw new Error(`search-index.json: ${answer.status}`);
  return createSearch((await answer.json()) as SearchIndex, synonyms);
}

function sectionsAt(page: string): Promise<Section[]> {
  const file = page.endsWith("/") ? `${page}index` : page;
  const known = pages.get(file);
  if (known) return known;
  const loaded = fetch(withBase(`/${file}.md`)).then(async (answer) =>
    answer.ok ? sectionsOf(await answer.text()) : [],
  );
  pages.set(file, loaded);
  // A page that could not be loaded is tried again by the next search.
  loaded.catch(() => pages.delete(file));
  return loaded;
}

async function textOf({ link, words }: Found): Promise<Piece[]> {
  const [page = "", anchor = ""] = link.split("#");
  const section = (await sectionsAt(page)).find((each) => each.anchor === anchor);
  return section ? excerptOf(section.text, words) : [];
}

const piecesOf = (pieces: readonly Piece[]) =>
  pieces.map(({ text, isMarked }) => (isMarked ? h("mark", text) : text));

export default defineComponent({
  emits: ["close"],
  setup(_, { emit }) {
    const dialog = ref<HTMLDialogElement>();
    const field = ref<HTMLInputElement>();
    const found = shallowRef<readonly Found[]>([]);
    const texts = shallowRef<ReadonlyMap<string, Piece[]>>(new Map());
    const chosen = ref(0);
    const state = ref<"loading" | "ready" | "failed">("loading");

    onMounted(() => {
      dialog.value!.showModal();
      field.value!.select();
    });

    watch(
      query,
      async (asked) => {
        try {
          const results = (await (search ??= load()))(asked);
          if (asked !== query.value) return;
          state.value = "ready";
          found.value = results;
          chosen.value = 0;
          await Promise.allSettled(
            results.map(async (each) => {
              const text = await textOf(each);
              if (found.value === results)
                texts.value = new Map(texts.value).set(keyOf(each), text);
            }),
          );
        } catch {
          search = undefined;
          state.value = "failed";
        }
      },
      { immediate: true },
    );

    const close = () => dialog.value?.close();
    const options = () => dialog.value!.querySelectorAll<HTMLAnchorElement>("[role=option]");

    function choose(next: number): void {
      const count = found.value.length;
      if (count === 0) return;
      chosen.value = (next + count) % count;
      void nextTick(() => options()[chosen.value]?.scrollIntoView({ block: "nearest" }));
    }

    function onKeydown(event: KeyboardEvent): void {
      // While an input method composes a word, its keys are its own.
      if (event.isComposing) return;
      // Chromium would only empty the field.
      if (event.key === "Escape") close();
      else if (event.key === "ArrowDown") choose(chosen.value + 1);
      else if (event.key === "ArrowUp") choose(chosen.value - 1);
      // Enter in the field. On a link, or with a key for a new tab, the browser follows the link.
      else if (event.key === "Enter" && event.target === field.value)
        options()[chosen.value]?.click();
      else return;
      event.preventDefault();
    }

    function clear(): void {
      query.value = "";
      field.value!.focus();
    }

    const said = () => {
      if (state.value === "failed") return "The search could not be loaded. Try again.";
      if (query.value.trim() === "" || state.value === "loading") return "";
      const count = found.value.length;
      if (count === 0) return `Nothing for “${query.value}”.`;
      return count === 1 ? "1 result" : `${count} results`;
    };

    const optionOf = (each: Found, i: number) =>
      h(
        "a",
        {
          key: each.link,
          id: `search-option-${i}`,
          role: "option",
          href: withBase(`/${each.link}`),
          "aria-selected": i === chosen.value,
          onClick: close,
          onFocus: () => void (chosen.value = i),
          onMousemove: () => void (chosen.value = i),
        },
        [
          h("b", piecesOf(markedIn(each.title, each.words))),
          each.page === undefined ? null : h("small", each.page),
          h("p", piecesOf(texts.value.get(keyOf(each)) ?? [])),
        ],
      );

    return () =>
      h(
        "dialog",
        {
          ref: dialog,
          class: "search-box",
          "aria-label": "Search the documentation",
          onClose: () => emit("close"),
          onKeydown,
          // The backdrop belongs to the dialog. All else is within the form and the list.
          onClick: (event: MouseEvent) => event.target === dialog.value && close(),
        },
        [
          h("form", { role: "search", onSubmit: (event: Event) => event.preventDefault() }, [
            h("span", { class: "icon", innerHTML: ICONS.search }),
            h("input", {
              ref: field,
              type: "search",
              role: "combobox",
              "aria-label": "Search",
              "aria-autocomplete": "list",
              "aria-expanded": found.value.length > 0,
              "aria-controls": "search-options",
              "aria-activedescendant":
                found.value.length > 0 ? `search-option-${chosen.value}` : undefined,
              autocapitalize: "off",
              autocomplete: "off",
              spellcheck: false,
              enterkeyhint: "go",
              maxlength: 64,
              placeholder: "What do you want to know?",
              value: query.value,
              onInput: (event: Event) =>
                void (query.value = (event.target as HTMLInputElement).value),
            }),
            query.value !== "" &&
              h("button", { type: "button", class: "clear", onClick: clear }, "Clear"),
            h("button", { type: "button", class: "close", onClick: close }, "Close"),
          ]),
          h("p", { role: "status", class: "said" }, said()),
          h(
            "div",
            { id: "search-options", role: "listbox", "aria-label": "Results" },
            found.value.map(optionOf),
          ),
        ],
      );
  },
});

/** The same section has another excerpt for other words. */
const keyOf = ({ link, words }: Found) => `${link} ${words.join(" ")}`;
