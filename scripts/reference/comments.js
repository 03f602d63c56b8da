/** The words of docstrings. */
import { signaturesOf } from "./sources.js";

/** The comment of a declaration, or of its first signature that has a comment. */
export function commentOf(declaration) {
  return declaration.comment ?? signaturesOf(declaration).find(({ comment }) => comment)?.comment;
}

/** The summary of a comment, and its default. */
export function sentences(reference, comment) {
  const text = partsText(reference, comment?.summary);
  const fallback = comment?.getTag("@default");
  if (fallback === undefined) return text;
  return `${text} **Default:** ${partsText(reference, fallback.content)}`.trim();
}

/** The first sentence of a comment. */
export function firstSentence(reference, comment) {
  const text = partsText(reference, comment?.summary)
    .split(/\n\n|:\n/)[0]
    .replace(/\s+/g, " ");
  return (/^.*?[.:](?=\s+[A-Z`]|$)/.exec(text)?.[0] ?? text).replace(/:$/, ".");
}

/** The example of the first comment with an example. */
export function exampleOf(comments) {
  const tag = comments.map((comment) => comment?.getTag("@example")).find(Boolean);
  const text = plain(tag?.content);
  return /<\/|\/>/.test(text) ? text.replace(/^```ts$/m, "```tsx") : text;
}

export function partsText(reference, parts = []) {
  return parts
    .map(({ kind, text, target }) =>
      kind === "inline-tag" ? reference.link(`\`${text}\``, target) : text,
    )
    .join("")
    .trim();
}

export function plain(parts = []) {
  return parts.map(({ text }) => text).join("");
}
