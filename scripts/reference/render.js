/** The Markdown of the pages. */
import { declarationText } from "./declarations.js";
import { entryIndex, rootIndex } from "./indexes.js";
import { resolveLinks } from "./reference.js";

/** @returns the text of each file, by its name. */
export async function render(reference, modules) {
  const texts = new Map([["README.md", rootIndex()]]);
  for (const module of modules) {
    texts.set(`${module.name}/README.md`, entryIndex(reference, module));
  }
  for (const page of reference.pages) texts.set(page.file, await pageText(reference, page));
  for (const [file, parts] of texts) {
    texts.set(file, `${resolveLinks(parts.filter(Boolean).join("\n\n"), file)}\n`);
  }
  return texts;
}

async function pageText(reference, page) {
  const parts = [`# ${page.title}`, page.about];
  for (const one of [page.main, ...page.members, ...page.types].filter(Boolean)) {
    const anchor = reference.anchorOf(one);
    if (anchor?.startsWith("type-")) parts.push(`<a id="${anchor}"></a>`);
    if (anchor !== undefined) parts.push(`## ${one.name}`);
    parts.push(...(await declarationText(reference, one)));
  }
  return parts;
}
