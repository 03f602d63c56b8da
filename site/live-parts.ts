/** Parts of the demo that run in a page of the documentation. In the repository, each part is a comment. */

interface Part {
  /** The address on the site. An example runs the block of code below it. */
  path: string;
  /** What a screen reader calls the part. */
  title: string;
  /** As high as the part is: on a wide page, on a phone, and on the narrowest phone, px. */
  heights: readonly [wide: number, narrow: number, narrowest?: number];
}

const PARTS: Record<string, Part> = {
  bucket: {
    path: "/bucket/",
    title: "A limit to try, and its tokens over time",
    heights: [470, 544, 590],
  },
  countdown: {
    path: "/examples/?countdown",
    title: "A meter and a countdown, to try",
    heights: [180, 180],
  },
  button: {
    path: "/examples/?button",
    title: "A button that waits for its limit, to try",
    heights: [110, 110],
  },
  mutation: {
    path: "/examples/?mutation",
    title: "Messages that wait for their turn, to try",
    heights: [180, 180],
  },
  devtools: {
    path: "/examples/?devtools",
    title: "The panel of the devtools, to try",
    heights: [400, 520],
  },
  admin: {
    path: "/examples/?admin",
    title: "A control room with customers, to try",
    heights: [640, 640],
  },
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
    const { path, title, heights } = part;
    return `<LivePart path="${path}" title="${title}" :heights="[${heights.join(", ")}]" />`;
  });
}
