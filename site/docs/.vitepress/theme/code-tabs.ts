/**
 * The choice among tabs of code, such as that of a store, for all pages and visits. `site/tab-kinds.ts`
 * says which tabs are about the same choice.
 */

/**
 * Shows the choices in all tabs of the page. The head of each page has the text of this function, too, so
 * it uses nothing from outside.
 *
 * @param kind the kind whose choice is `chosen`. @default all kinds, as they are stored
 */
export function showChosenTabs(kind?: string, chosen?: string): void {
  for (const group of document.querySelectorAll<HTMLElement>(".vp-code-group")) {
    const own = group.dataset["kind"] ?? "";
    if (kind !== undefined && kind !== own) continue;
    let label = chosen;
    try {
      label ??= localStorage.getItem(`tabs:${own}`) ?? undefined;
    } catch {
      // A browser may forbid storage.
    }
    const labels = [...group.querySelectorAll<HTMLElement>(":scope > .tabs > label")];
    const index = labels.findIndex(({ dataset }) => dataset["title"] === label);
    // A page may have other tabs of the kind. The first one is shown then.
    if (index < 0) continue;
    const inputs = group.querySelectorAll<HTMLInputElement>(":scope > .tabs > input");
    for (const [i, input] of inputs.entries()) input.checked = i === index;
    const blocks = group.querySelectorAll(":scope > .blocks > *");
    for (const [i, block] of blocks.entries()) block.classList.toggle("active", i === index);
  }
}

/** Shows the choices while a browser reads the page, so before it draws their places. */
export const TABS_SCRIPT = `{
  const show = ${showChosenTabs.toString()};
  const observer = new MutationObserver(() => show());
  observer.observe(document, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", () => (show(), observer.disconnect()));
}`;

/** Remembers each choice, and shows it on the whole page, and in other tabs of the browser. */
export function rememberTabs(): void {
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const group = target.closest<HTMLElement>(".vp-code-group");
    const kind = group?.dataset["kind"];
    const chosen = target.labels?.[0]?.dataset["title"];
    if (!group || kind === undefined || chosen === undefined) return;
    try {
      localStorage.setItem(`tabs:${kind}`, chosen);
    } catch {
      // The page still has the choice.
    }
    // The other groups change with this one. Scroll by the difference, so that the reader's place stays
    // where it is.
    const before = group.getBoundingClientRect().top;
    showChosenTabs(kind, chosen);
    window.scrollBy({ top: group.getBoundingClientRect().top - before, behavior: "instant" });
  });
  addEventListener("storage", ({ key }) => {
    if (key?.startsWith("tabs:")) showChosenTabs();
  });
}
