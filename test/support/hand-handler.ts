/** A handler of limits behind `fetch`. The test has its snapshots and says how it answers. */
import { vi } from "vitest";
import type { RateLimitSnapshot } from "../../client/fetch/index.js";
import { snapshotOf } from "./hand-transport.js";
import { createEventSources } from "./stub-event-source.js";

export const URL_OF_LIMITS = "/api/limits";

/** `tokens` has the value of each limit. Other limits are refused. */
export function createHandHandler(tokens: Record<string, number>) {
  const { opened, EventSource } = createEventSources();
  const asked: { url: URL; init: RequestInit }[] = [];
  /** What answers in place of the handler. */
  const instead: { respond?: (() => Response | Promise<Response>) | undefined } = {};
  const more: Partial<RateLimitSnapshot> = {};

  const fetch = vi.fn(async (input: string | URL | Request, init: RequestInit = {}) => {
    const url = new URL(input instanceof Request ? input.url : input, "http://localhost");
    asked.push({ url, init });
    if (instead.respond) return instead.respond();
    const items = JSON.parse(url.searchParams.get("items")!) as { name: string; key?: string }[];
    return Response.json(
      items.map(({ name, key }) =>
        name in tokens
          ? { snapshot: snapshotOf(name, tokens[name]!, { ...more, ...(key && { key }) }) }
          : { status: 400, error: { code: "BAD_REQUEST", message: `no limit ${name}` } },
      ),
    );
  });

  return {
    fetch,
    EventSource,
    tokens,
    more,
    instead,
    /** The requests so far, in order. */
    asked,
    /** The streams so far, in order. */
    streams: opened,
    /** The names of each question so far. */
    names: () =>
      asked.map(({ url }) =>
        (JSON.parse(url.searchParams.get("items")!) as { name: string }[]).map(({ name }) => name),
      ),
  };
}
