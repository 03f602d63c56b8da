/** Builds the index of the search from the pages, see `SearchIndex`. */
import { routeOf } from "./pages.js";
import type { SearchIndex } from "./search.js";
import { wordsOf } from "./search.js";
import { sectionsOf } from "./sections.js";

/** How often a section must have a word for the star. */
const OFTEN = 3;

/** @param pages the Markdown of each page, by its file. */
export function indexOf(pages: ReadonlyMap<string, string>): SearchIndex {
  const index: SearchIndex = { pages: [], sections: [], words: {} };
  const places = new Map<string, [section: number, count: number][]>();
  for (const [file, markdown] of [...pages].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const page = index.pages.push(routeOf(file)) - 1;
    for (const { anchor, title, text } of sectionsOf(markdown)) {
      const section = index.sections.push([page, anchor, title]) - 1;
      const counts = new Map<string, number>();
      for (const word of wordsOf(`${title} ${text}`)) counts.set(word, (counts.get(word) ?? 0) + 1);
      for (const [word, count] of counts) {
        const before = places.get(word) ?? [];
        before.push([section, count]);
        places.set(word, before);
      }
    }
  }
  for (const [word, of] of [...places].sort(([a], [b]) => (a < b ? -1 : 1))) {
    index.words[word] = of
      .map(([section, count], i) => {
        const step = section - (of[i - 1]?.[0] ?? 0);
        return step.toString(36) + (count >= OFTEN ? "*" : "");
      })
      .join(" ");
  }
  return index;
}
