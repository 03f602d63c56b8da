/** The observers of this page, by the URL of the handler that they reach. */
import { OBSERVERS } from "../observers-key.js";
import type { RateLimitObserver } from "../types.js";

type Page = typeof globalThis & { [OBSERVERS]?: Map<string, Set<RateLimitObserver>> };

/**
 * The observers that follow something through one handler. The sets are a property of the page rather
 * than of this module, so two copies of the package find the same set. A relative URL and the whole
 * address of the same handler have the same set.
 */
export function observersOfUrl(url: string): Set<RateLimitObserver> {
  const page: Page = globalThis;
  const byUrl = (page[OBSERVERS] ??= new Map());
  const { href } = addressOf(url);
  const known = byUrl.get(href) ?? new Set<RateLimitObserver>();
  byUrl.set(href, known);
  return known;
}

/** The whole address of a URL of this page. A rendering server has no page, and any host does. */
export function addressOf(url: string): URL {
  const { location } = globalThis as { location?: Location };
  return new URL(url, location ? location.href : "http://localhost");
}
