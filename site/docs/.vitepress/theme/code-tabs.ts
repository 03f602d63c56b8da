/** The choice among tabs of code, such as that of a package manager, for all pages and visits. */

/** The key of a choice: the labels among which it was made. */
const keyOf = (labels: readonly string[]) => `tabs:${labels.join(",")}`;

export function rememberTabs(): void {
  document.addEventListener("change", ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    const group = target.closest<HTMLElement>(".vp-code-group");
    if (group === null) return;
    const labels = labelsOf(group);
    const chosen = labels[inputsOf(group).indexOf(target)];
    if (chosen === undefined) return;
    try {
      localStorage.setItem(keyOf(labels), chosen);
    } catch {
      // A browser may forbid storage. The page still has the choice.
    }
    // The other groups change with this one. Scroll by the difference, so that the reader's place stays
    // where it is.
    const before = group.getBoundingClientRect().top;
    for (const other of groups()) {
      if (keyOf(labelsOf(other)) === keyOf(labels)) show(other, labels.indexOf(chosen));
    }
    window.scrollBy({ top: group.getBoundingClientRect().top - before, behavior: "instant" });
  });
}

/** Shows the choices on a page that has just loaded. */
export function showChosenTabs(): void {
  for (const group of groups()) {
    const labels = labelsOf(group);
    const index = labels.indexOf(chosenOf(labels) ?? "");
    if (index > 0) show(group, index);
  }
}

function chosenOf(labels: readonly string[]): string | null {
  try {
    return localStorage.getItem(keyOf(labels));
  } catch {
    return null;
  }
}

const groups = () => document.querySelectorAll<HTMLElement>(".vp-code-group");
const inputsOf = (group: HTMLElement) => [
  ...group.querySelectorAll<HTMLInputElement>(":scope > .tabs > input"),
];
const labelsOf = (group: HTMLElement) =>
  [...group.querySelectorAll<HTMLElement>(":scope > .tabs > label")].map(
    ({ dataset }) => dataset["title"] ?? "",
  );

/** Does what VitePress does at a click, without its scrolling. */
function show(group: HTMLElement, index: number): void {
  for (const [i, input] of inputsOf(group).entries()) input.checked = i === index;
  const blocks = group.querySelector(":scope > .blocks")?.children ?? [];
  for (const [i, block] of [...blocks].entries()) block.classList.toggle("active", i === index);
}
