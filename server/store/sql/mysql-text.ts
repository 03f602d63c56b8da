/**
 * Names and keys as MySQL keeps them apart. Its binary collation compares bytes, but as if the
 * shorter string went on with spaces; so a string that ends in a space, or in the mark that is put
 * behind those, gets a mark behind it.
 */

/** Unit separator: not a space, and not to be expected in a key. */
const MARK = "\u001F";

export function storedText(text: string): string {
  return text.endsWith(" ") || text.endsWith(MARK) ? text + MARK : text;
}

export function shownText(stored: string): string {
  return stored.endsWith(MARK) ? stored.slice(0, -MARK.length) : stored;
}
