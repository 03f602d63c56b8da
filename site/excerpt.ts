/** The part of a text in which words were found, in pieces, of which those with a word are marked. */

export interface Piece {
  text: string;
  isMarked: boolean;
}

/** Characters. */
const LENGTH = 170;
/** How many of these stand before the first word, for its context. */
const BEFORE = 40;

/** @param words as `Found` has them. */
export function markedIn(text: string, words: readonly string[]): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { index, 0: word } of placesOf(text, words)) {
    if (index > end) pieces.push({ text: text.slice(end, index), isMarked: false });
    pieces.push({ text: word, isMarked: true });
    end = index + word.length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), isMarked: false });
  return pieces;
}

/** The part with the most of the words. If the text has none of them, its beginning. */
export function excerptOf(text: string, words: readonly string[]): Piece[] {
  const places = placesOf(text, words);
  let start = 0;
  let most = 0;
  for (const { index } of places) {
    const near = places.filter(
      (each) => each.index >= index && each.index < index + LENGTH - BEFORE,
    );
    const count = new Set(near.map(([word]) => word.toLowerCase())).size;
    if (count > most) [start, most] = [index, count];
  }
  const from = start <= BEFORE ? 0 : text.lastIndexOf(" ", start - BEFORE) + 1;
  const until = from + LENGTH >= text.length ? text.length : text.lastIndexOf(" ", from + LENGTH);
  const shown = text.slice(from, until > from ? until : from + LENGTH);
  return markedIn((from > 0 ? "… " : "") + shown + (until < text.length ? " …" : ""), words);
}

/** The index has the singular of a word, so its plural is the same word. */
function placesOf(text: string, words: readonly string[]) {
  if (words.length === 0) return [];
  const any = words.join("|");
  return [...text.matchAll(new RegExp(`(?<![\\p{L}\\p{N}])(?:${any})s?(?![\\p{L}\\p{N}])`, "giu"))];
}
