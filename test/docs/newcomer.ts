/** How a newcomer looks for an answer: from README.md, by links and headings that have the words of the question. */
import { dirname, join, normalize } from "node:path";
import { anchorsOf, type Page, proseOf } from "./pages.js";

export interface Question {
  question: string;
  /** What a newcomer would look for, in small letters. One of them is enough. */
  words: readonly string[];
  /** Where the answer is: a page, and a part of its heading. */
  page: string;
  heading: string;
  /** What the text below that heading says. */
  says: RegExp;
}

interface Link {
  text: string;
  page: string;
  anchor: string | undefined;
}

export const START = "README.md";
/** A newcomer who sees no word of the question opens the index. */
const INDEX = "docs/README.md";
const MOST_STEPS = 2;

/** Links to other pages. Pictures are none. */
export function linksOf(page: Page): Link[] {
  const links = proseOf(page).matchAll(/(?<!!)\[([^\]]+)\]\((?!\w+:)([^)]+)\)/g);
  return [...links].map(([, text, target]) => {
    const [file = "", anchor] = target!.split("#");
    const path = file === "" ? page.path : normalize(join(dirname(page.path), file));
    return { text: text!, page: path, anchor };
  });
}

export function headingsOf(page: Page): string[] {
  return [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!);
}

/** The text from a heading to the next one of any level. */
export function textBelow(page: Page, part: string): string | undefined {
  const sections = page.text.split(/^(?=#+ )/m);
  return sections.find((section) => section.split("\n", 1)[0]!.includes(part));
}

const hasOneOf = (text: string, words: readonly string[]) =>
  words.some((word) => text.toLowerCase().includes(word));

/**
 * The pages on the shortest way from README.md to the page of the answer, without README.md.
 * `undefined` if there is none of at most two pages.
 */
export function wayTo(
  pages: ReadonlyMap<string, Page>,
  { words, page: answer }: Pick<Question, "words" | "page">,
): string[] | undefined {
  let ways = [[START]];
  for (let step = 0; step < MOST_STEPS; step++) {
    ways = ways.flatMap((way) =>
      linksOf(pages.get(way.at(-1)!)!)
        .filter((link) => follows(pages, link, words))
        .map((link) => [...way, link.page]),
    );
    const found = ways.find((way) => way.at(-1) === answer);
    if (found) return found.slice(1);
  }
  return undefined;
}

/** Whether a newcomer with these words opens the link. */
function follows(
  pages: ReadonlyMap<string, Page>,
  { text, page, anchor }: Link,
  words: readonly string[],
): boolean {
  const target = pages.get(page);
  if (!target || (anchor !== undefined && !anchorsOf(target).includes(anchor))) return false;
  if (page === INDEX || hasOneOf(text, words)) return true;
  return headingsOf(target).some((heading) => hasOneOf(heading, words));
}
