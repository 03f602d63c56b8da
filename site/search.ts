/**
 * The search of the site: which sections answer a query, best first. `search-index.ts` builds the index,
 * and the search box loads it when it opens. Both use the same words.
 */

export interface SearchIndex {
  /** The address of each page, from the site's base. */
  pages: string[];
  /** The first section of a page has the title of the page, and no anchor. */
  sections: [page: number, anchor: string, title: string][];
  /**
   * By word, the sections that have it, as "a 3 1*": the first number is the first section, each further
   * number counts on from the one before, in base 36. A star: the word is there three times or more.
   */
  words: Record<string, string>;
}

export interface Found {
  /** From the site's base, with the anchor. */
  link: string;
  title: string;
  /** The title of the page, `undefined` for its beginning. */
  page: string | undefined;
  /** The beginnings of the words that were found, to mark them. */
  words: string[];
}

/** What readers call a thing, and the words of the pages for it. See synonyms.json. */
export type Synonyms = Readonly<Record<string, string>>;

/** How many sections are found, and how many of one page. */
const MOST = 12;
const MOST_OF_PAGE = 3;
/** A word that continues, such as "red" in "redis", and a word with a wrong letter, beside the word itself. */
const CONTINUED = 0.35;
const MISSPELT = 0.1;
/** The beginning of a page beside its other sections. */
const BEGINNING = 1.3;
/** Names of the reference are found last, and so are the changes, which name everything. */
const LAST = /^docs\/(?:reference\/.|changelog)/;

const STOP_WORDS = new Set(
  "a an and are as at be but by can do does for from how i if in into is it its my no not of on or so than that the their them then there these they this to was what when where which who why will with you your".split(
    " ",
  ),
);

/** The words of a text, without those that every text has. "Next.js" is also one word. */
export function wordsOf(text: string): string[] {
  const names = text.match(/\b[A-Z]\w*\.js\b/g) ?? [];
  return [...text.split(/[^\p{L}\p{N}]+/u), ...names.map((name) => name.replace(".", ""))]
    .map((word) => singularOf(word.toLowerCase()))
    .filter((word) => word.length > 1 && !STOP_WORDS.has(word));
}

const singularOf = (word: string) =>
  /[^suij]s$/.test(word) && word.length > 3 ? word.slice(0, -1) : word;

/** The scores of one word, or of all words of a query, by section. */
type Scores = Map<number, number>;

export function createSearch(index: SearchIndex, synonyms: Synonyms) {
  const { pages, sections } = index;
  const titles = sections.map(([, , title]) => wordsOf(title));
  const firstOf = new Map<number, number>();
  for (const [i, [page]] of sections.entries()) if (!firstOf.has(page)) firstOf.set(page, i);
  const means = new Map(
    Object.entries(synonyms).map(([said, meant]) => [wordsOf(said).join(" "), wordsOf(meant)]),
  );
  const vocabulary = Object.keys(index.words);

  /** The sections with a word of the index. A title says more than a text, and a short title most. */
  function sectionsWith(word: string): Scores {
    const scores: Scores = new Map();
    const entries = index.words[word]?.split(" ") ?? [];
    const rarity = Math.log(1 + sections.length / entries.length);
    let section = 0;
    for (const entry of entries) {
      section += Number.parseInt(entry, 36);
      const own = titleScore(titles[section]!, word);
      const ofPage = titleScore(titles[firstOf.get(sections[section]![0])!]!, word);
      const text = entry.endsWith("*") ? 1.4 : 1;
      scores.set(section, rarity * (text + 3 * own + 1.5 * ofPage));
    }
    return scores;
  }

  /** Exact words first. Words with other letters are found only where there is nothing else. */
  function matchesOf(word: string): [found: string, weight: number][] {
    const begun = vocabulary.filter((other) => other !== word && other.startsWith(word));
    const matches = begun.map((other): [string, number] => [
      other,
      CONTINUED * (0.5 + (0.5 * word.length) / other.length),
    ]);
    if (Object.hasOwn(index.words, word)) matches.unshift([word, 1]);
    if (matches.length > 0) return matches;
    const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
    return vocabulary
      .filter((other) => most > 0 && isWithin(word, other, most))
      .map((other) => [other, MISSPELT]);
  }

  function scoresOf(word: string, found: Map<number, Set<string>>): Scores {
    const best: Scores = new Map();
    for (const [match, weight] of matchesOf(word)) {
      for (const [section, score] of sectionsWith(match)) {
        best.set(section, Math.max(best.get(section) ?? 0, weight * score));
        note(found, section, match);
      }
    }
    return best;
  }

  /** For a word that a reader did not type: only sections that are about it, by a title. */
  function scoresOfMeant(word: string, found: Map<number, Set<string>>): Scores {
    const best: Scores = new Map();
    for (const [section, score] of sectionsWith(word)) {
      const [page] = sections[section]!;
      if (![section, firstOf.get(page)!].some((each) => titles[each]!.includes(word))) continue;
      best.set(section, score);
      note(found, section, word);
    }
    return best;
  }

  /** A section that has only some of the words comes after those that have all. */
  function together(all: readonly Scores[]): Scores {
    const sums: Scores = new Map();
    const counts: Scores = new Map();
    for (const scores of all) {
      for (const [section, score] of scores) {
        sums.set(section, (sums.get(section) ?? 0) + score);
        counts.set(section, (counts.get(section) ?? 0) + 1);
      }
    }
    for (const [section, sum] of sums) {
      sums.set(section, sum * (counts.get(section)! / all.length) ** 2);
    }
    return sums;
  }

  return function search(query: string): Found[] {
    const words = wordsOf(query);
    const found = new Map<number, Set<string>>();
    const scores = together(
      groupsOf(words, means).map(({ said, meant }) => {
        const own = together(said.map((word) => scoresOf(word, found)));
        for (const [section, score] of together(meant.map((word) => scoresOfMeant(word, found)))) {
          own.set(section, Math.max(own.get(section) ?? 0, 1.5 * score));
        }
        return own;
      }),
    );
    // A name of code, such as "useRateLimit", is looked up in the reference.
    const isName = /^\w*[a-z][A-Z]\w*$/.test(query.trim());
    const rank = ([section, score]: [number, number]) => {
      const [page, anchor, title] = sections[section]!;
      const isFirst = anchor === "" ? BEGINNING * score : score;
      if (isName && title.toLowerCase() === query.trim().toLowerCase()) return isFirst;
      return LAST.test(pages[page]!) ? isFirst / 10 : isFirst;
    };
    const taken = new Map<number, number>();
    return [...scores]
      .sort((a, b) => rank(b) - rank(a) || a[0] - b[0])
      .filter(([section]) => {
        const [page] = sections[section]!;
        taken.set(page, (taken.get(page) ?? 0) + 1);
        return taken.get(page)! <= MOST_OF_PAGE;
      })
      .slice(0, MOST)
      .map(([section]) => {
        const [page, anchor, title] = sections[section]!;
        return {
          link: pages[page]! + (anchor === "" ? "" : `#${anchor}`),
          title,
          page: anchor === "" ? undefined : sections[firstOf.get(page)!]![2],
          words: [...found.get(section)!],
        };
      });
  };
}

function note(found: Map<number, Set<string>>, section: number, word: string): void {
  found.set(section, (found.get(section) ?? new Set()).add(word));
}

const titleScore = (title: readonly string[], word: string) =>
  title.includes(word) ? 0.5 + 0.5 / title.length : 0;

/** The words of a query, in groups: a word, or several words that have a synonym together. */
function groupsOf(words: readonly string[], means: ReadonlyMap<string, string[]>) {
  const groups: { said: readonly string[]; meant: readonly string[] }[] = [];
  for (let i = 0; i < words.length;) {
    const said = [3, 2, 1]
      .map((length) => words.slice(i, i + length))
      .find((some) => some.length === 1 || means.has(some.join(" ")))!;
    groups.push({ said, meant: means.get(said.join(" ")) ?? begunMeaning(said[0]!, means) });
    i += said.length;
  }
  return groups;
}

/** While a reader still types "throttle", "thrott" has its meaning. */
function begunMeaning(word: string, means: ReadonlyMap<string, string[]>): string[] {
  if (word.length < 4) return [];
  for (const [said, meant] of means) if (said.startsWith(word)) return meant;
  return [];
}

/** Whether so many letters at most were added, left out or replaced. The first letter is always right. */
function isWithin(a: string, b: string, most: number): boolean {
  if (a[0] !== b[0] || Math.abs(a.length - b.length) > most) return false;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1]! + (a[i] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row.at(-1)! <= most;
}
