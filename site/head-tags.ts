/** The tags in the head of every page, for posts that link to the page. */
import type { Address } from "./address.js";

export const PICTURE_SIZE = { width: 1200, height: 630 };

/** The pictures beside a link, in `site/app/public`. `site/picture.ts` draws them. */
export const PICTURES = {
  /** On the first page. */
  question: {
    file: "count.png",
    text: "Can your rate limiter count to ten? Six limiters, and how many of fifty calls each of them grants.",
  },
  /** On all other pages. */
  site: {
    file: "picture.png",
    text: "trpc-rate-limit: limit calls exactly, in your own database, and show users when they can call again.",
  },
};

export interface Posted {
  title: string;
  description: string;
  /** The route from the site's base. */
  route: string;
}

/** An element of the head: its name and its attributes, as VitePress takes them. */
export type HeadTag = [name: "meta" | "link", attributes: Record<string, string>];

/**
 * Addresses are whole if it is known where the site will be. If not, the canonical address is left out: a
 * wrong canonical address takes a page out of search engines.
 */
export function headTagsOf({ title, description, route }: Posted, address: Address): HeadTag[] {
  const { base, origin } = address;
  const url = origin === undefined ? undefined : `${origin}${base}${route}`;
  const picture = route === "" ? PICTURES.question : PICTURES.site;
  const properties: [property: string, content: string | undefined][] = [
    ["og:site_name", "trpc-rate-limit"],
    ["og:type", route === "" ? "website" : "article"],
    ["og:title", title],
    ["og:description", description],
    ["og:url", url],
    ["og:image", `${origin ?? ""}${base}${picture.file}`],
    ["og:image:type", "image/png"],
    ["og:image:width", `${PICTURE_SIZE.width}`],
    ["og:image:height", `${PICTURE_SIZE.height}`],
    ["og:image:alt", picture.text],
  ];
  const tags = properties.flatMap(([property, content]): HeadTag[] =>
    content === undefined ? [] : [["meta", { property, content }]],
  );
  tags.push(["meta", { name: "twitter:card", content: "summary_large_image" }]);
  if (url !== undefined) tags.push(["link", { rel: "canonical", href: url }]);
  return tags;
}

/** The same tags as HTML. */
export function htmlOf(tags: readonly HeadTag[]): string {
  return tags
    .map(([name, attributes]) => {
      const pairs = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(value)}"`);
      return `<${name}${pairs.join("")} />`;
    })
    .join("\n");
}

/** A text in HTML, also in an attribute in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}
