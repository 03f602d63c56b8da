/**
 * The indexes of the documentation as cards. In the repository, the indexes are plain lists and tables
 * with a line for each page. On the site, such a list would be one long column.
 */
const INDEXES: ReadonlySet<string> = new Set(["docs/README.md", "docs/guides/README.md"]);

const LINK = String.raw`\[(?:[^[\]]|\[[^\]]*\])+\]\([^)\s]+\)`;
/** A page, and what it is about: a line of a list, or a row of a table. */
const PAGE = [
  new RegExp(`^- (${LINK}): (.+)$`),
  new RegExp(String.raw`^\| (${LINK}) +\| (.*?) +\|$`),
  // A file of the repository, as long as the repository's address is not known.
  /^- ([A-Z]\w*): ([^[]+)$/,
];
/** Words, and the page that explains them. */
const WORDS = new RegExp(`^- (.+): (${LINK})$`);
const LINK_ALONE = new RegExp(`^- ${LINK}$`);

interface Kind {
  name: string;
  /** The list item for the line; `undefined` for a line of another kind. */
  itemOf: (line: string) => string | undefined;
}

const KINDS: readonly Kind[] = [
  {
    name: "cards",
    itemOf(line) {
      const [, link, about] = PAGE.map((page) => page.exec(line)).find((found) => found) ?? [];
      if (!link || !about) return undefined;
      const name = link.startsWith("[") ? link : `**${link}**`;
      return `- ${name} <span>${capital(about)}</span>`;
    },
  },
  { name: "links", itemOf: (line) => (LINK_ALONE.test(line) ? line : undefined) },
  {
    name: "words",
    itemOf(line) {
      const [, words, link] = WORDS.exec(line) ?? [];
      return words && link && `- <span>${words}</span> [${capital(link.slice(1))}`;
    },
  },
];

/**
 * @param text a page, as Markdown.
 * @param source its file. Pages other than the indexes stay as they are.
 * @returns the page with its lists and tables in elements with the class `cards`, `links` or `words`.
 */
export function withCards(text: string, source: string): string {
  if (!INDEXES.has(source)) return text;
  // An empty line separates blocks of lines.
  return text
    .split("\n\n")
    .map((block) => cardsOf(block.trimEnd().split("\n")) ?? block)
    .join("\n\n");
}

/** The block as cards; `undefined` for a block that is neither such a list nor such a table. */
function cardsOf(lines: readonly string[]): string | undefined {
  const isTable = lines[0]!.startsWith("|");
  const rows = isTable ? lines.slice(2) : lines;
  for (const { name, itemOf } of KINDS) {
    const items = rows.map(itemOf);
    if (items.length === 0 || !items.every((item) => item !== undefined)) continue;
    // Inside of the element, Markdown is read only after an empty line.
    return `<div class="${name}">\n\n${items.join("\n")}\n\n</div>`;
  }
  return undefined;
}

/**
 * The text behind a colon begins a line now, so its first letter is a capital. A name such as tRPC stays
 * as it is.
 */
function capital(text: string): string {
  return text.replace(/^[a-z]+(?![A-Za-z])/, (word) => word[0]!.toUpperCase() + word.slice(1));
}
