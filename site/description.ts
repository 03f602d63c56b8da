/** The description of a page in one or two sentences, for search engines and for sites that link to it. */
import { partsOf } from "./fences.js";

/** The description of a page without a sentence. */
export const SITE_DESCRIPTION =
  "Rate limits for tRPC, Prisma and React: exact, transactional, typed and live.";

/** Characters. Search engines show about as many. */
const LONGEST = 200;
/** A first sentence shorter than this gets the second sentence, too. */
const SHORT = 60;

/** @returns the first sentence of the page that is no heading, list, table, image or code. */
export function descriptionOf(text: string): string {
  const [, ...body] = text.replace(/^---\n[\s\S]*?\n---\n/, "").split(/^# .*$/m);
  const prose = partsOf(body.length > 0 ? body.join("\n") : text).filter(
    (part) => typeof part === "string",
  );
  const paragraph = prose
    .flatMap((part) => part.split(/\n\s*\n/))
    .map((part) => part.trim())
    .find((part) => part !== "" && !/^(?:#|\||[-*+] |\d+\. |<|!\[|:::|\[!\[)/.test(part));
  return paragraph === undefined ? SITE_DESCRIPTION : shortened(plain(paragraph));
}

/** A text without the marks of Markdown, in one line. */
export function plain(markdown: string): string {
  return (
    markdown
      .replace(/^> ?/gm, "")
      .replace(/^\*\*In short:?\*\*:?\s*(.)/i, (_, first: string) => first.toUpperCase())
      .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
      // Keep code as it is: there, what looks like an element is a type.
      .replace(/`([^`]+)`|<[^>]+>/g, (_, code: string = "") => code)
      .replace(/\[((?:[^[\]]|\[[^\]]*\])*)\]\([^)]*\)/g, "$1")
      .replace(/\*\*/g, "")
      .replace(/\s+/g, " ")
      .trim()
  );
}

function shortened(text: string): string {
  // A sentence ends before a space and the beginning of another sentence, so not in "e.g. this" or "tRPC
  // 11.2".
  const [first = "", second] = text.split(/(?<=[^.]\w[.!?])\s+(?=[A-Z`"'(])/);
  const told = first.length < SHORT && second !== undefined ? `${first} ${second}` : first;
  const whole = told.replace(/\s*:$/, ".");
  if (whole.length <= LONGEST) return whole;
  return `${whole.slice(0, LONGEST - 1).replace(/[\s,;:.]+\S*$/, "")}…`;
}

/** The page with its description in the place where VitePress looks for it. */
export function withDescription(text: string): string {
  if (text.startsWith("---\n")) return text;
  return `---\ndescription: ${JSON.stringify(descriptionOf(text))}\n---\n\n${text}`;
}
