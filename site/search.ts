/** How the site's search finds a word in the way that readers type it. */

/**
 * The words of a text as MiniSearch splits them by default, and names that end with ".js" also in one
 * piece: "nextjs" finds Next.js. VitePress sends this function to the browser as text, so the function
 * uses nothing outside of itself.
 */
export function tokenize(text: string): string[] {
  const names = text.match(/\b[A-Z]\w*\.js\b/g) ?? [];
  return [...text.split(/[\n\r\p{Z}\p{P}]+/u), ...names.map((name) => name.replace(".", ""))];
}
