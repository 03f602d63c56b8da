/**
 * The content of the bar above every page. The pages of Vite write it as HTML (`app/frame.ts`), those of
 * VitePress as a component (`docs/.vitepress/theme/site-bar.ts`). `bar.css` has the styles for both.
 */
import { SCHEME_ICON } from "../example-app/scheme-switch.js";

export const BRAND = "trpc-rate-limit";

export interface BarLink {
  text: string;
  /** The path from the site's base, with a slash before it. For another site, the whole address. */
  link: string;
  /** The link is marked on pages with these routes, which start at the site's base. */
  match?: RegExp;
}

/** @param repository its address, if it is known. */
export function barLinksOf(repository: string | undefined): BarLink[] {
  return [
    { text: "Docs", link: "/docs/", match: /^docs\/(?!performance$|reference\/)/ },
    { text: "Playground", link: "/playground/", match: /^playground\/$/ },
    { text: "Reference", link: "/docs/reference/", match: /^docs\/reference\// },
    { text: "How fast", link: "/docs/performance", match: /^docs\/performance$/ },
    ...(repository === undefined ? [] : [{ text: "GitHub", link: repository }]),
  ];
}

/** @returns the value of `aria-current`, or `undefined` on pages of other links. */
export function currentOf({ link, match }: BarLink, route: string): "page" | "true" | undefined {
  if (match?.test(route) !== true) return undefined;
  return link === `/${route}` ? "page" : "true";
}

/** The id of the list of links, which is a menu on a narrow page. */
export const MENU = "site-links";

/** Opens the search of the documentation from a page that has no search itself. */
export const SEARCH_QUERY = "?search";

/** The keys that open the search, as the field of the search shows them. */
export function searchKeysOf(platform: string): string {
  return /^(?:Mac|iP)/.test(platform) ? "⌘K" : "Ctrl K";
}

/** Without anything outside of itself, because pages of Vite get it as text. */
export function isSearchKey({
  key,
  ctrlKey,
  metaKey,
  shiftKey,
  altKey,
}: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">): boolean {
  return key.toLowerCase() === "k" && (ctrlKey || metaKey) && !shiftKey && !altKey;
}

const svg = (size: number, content: string) =>
  `<svg aria-hidden="true" viewBox="0 0 24 24" width="${size}" height="${size}" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round">${content}</svg>`;

/** Nine tokens, of which five are left. */
const DOTS = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((i) => {
  const place = `cx="${4 + 8 * (i % 3)}" cy="${4 + 8 * Math.floor(i / 3)}"`;
  return i < 5
    ? `<circle ${place} r="3.2" fill="currentColor" stroke="none"/>`
    : `<circle ${place} r="2.4" stroke-width="1.6" opacity="0.65"/>`;
});

export const ICONS = {
  brand: svg(20, DOTS.join("")),
  search: svg(18, `<circle cx="11" cy="11" r="7"/><path d="m20 20-4-4"/>`),
  menu: svg(20, `<path d="M4 7h16M4 12h16M4 17h16"/>`),
  scheme: SCHEME_ICON,
};
