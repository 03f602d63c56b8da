/** Parts of the demo that run in a page of the documentation. In the repository, each part is a comment. */

/** The parts by name: their address on the site, and what a screen reader calls them. */
const PARTS: Record<string, { path: string; title: string }> = {
  bucket: { path: "/bucket/", title: "A limit to try, and its tokens over time" },
};
const PLACE = /^<!-- live: (\S+) -->$/gm;

/**
 * Replaces `<!-- live: bucket -->` by the component of the theme that loads the part.
 *
 * @param source the page's file, for errors.
 * @throws Error about a part that does not exist.
 */
export function withLiveParts(text: string, source: string): string {
  return text.replace(PLACE, (_, name: string) => {
    const part = PARTS[name];
    if (part === undefined) throw new Error(`${source}: there is no live part "${name}"`);
    return `<LivePart path="${part.path}" title="${part.title}" />`;
  });
}
