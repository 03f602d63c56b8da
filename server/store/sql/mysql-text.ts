/**
 * Names and keys in a form that MySQL does not mix up. Its binary collation compares bytes, but
 * pads the shorter string with spaces. So a mark is appended to a string that ends in a space, or
 * in the mark itself.
 */

/** Unit separator: not a space, and unlikely in a key. */
const MARK = "\u001F";

export function storedText(text: string): string {
  return text.endsWith(" ") || text.endsWith(MARK) ? text + MARK : text;
}

export function shownText(stored: string): string {
  return stored.endsWith(MARK) ? stored.slice(0, -MARK.length) : stored;
}
