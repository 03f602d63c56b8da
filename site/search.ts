/** How the site's search finds a word as people type it. */

/**
 * The words of a text, as MiniSearch splits it by itself, and the names that end with ".js" in one
 * piece, too: "nextjs" finds Next.js. VitePress hands this function to the browser as text, so it uses
 * nothing outside of itself.
 */
export function tokenize(text: string): string[] {
  const names = text.match(/\b[A-Z]\w*\.js\b/g) ?? [];
  return [...text.split(/[\n\r\p{Z}\p{P}]+/u), ...names.map((name) => name.replace(".", ""))];
}
