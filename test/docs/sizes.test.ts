/** The sizes on the pages are the bounds that `npm run check` enforces. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readPage, ROOT } from "./pages.js";

const { "size-limit": limits } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as {
  "size-limit": { name: string; limit: string }[];
};

/** The row of a table that has a bound, by what it begins with, or another text with it. */
const SHOWN: Record<string, readonly [page: string, text: string][]> = {
  "/react": [["docs/react.md", "| `trpc-rate-limit/react`"]],
  "/countdown": [["docs/react.md", "| `trpc-rate-limit/countdown`"]],
  "/client": [["docs/without-react.md", "| all of `trpc-rate-limit/client`"]],
  "/client: an observer": [
    ["docs/without-react.md", "| `createRateLimitObserver` and `createTRPCTransport`"],
  ],
  "/client: an observer that shares its stream": [
    ["docs/without-react.md", "| the same and `shareStream`"],
  ],
  "/client: the link": [["docs/without-react.md", "| `rateLimitLink`"]],
  "/client: predictFirst": [["docs/without-react.md", "| `predictFirst`"]],
  "/fetch": [["docs/without-react.md", "| all of `trpc-rate-limit/fetch`"]],
  "/fetch: an observer": [["docs/without-react.md", "| `createRateLimitObserver` of it"]],
  "/fetch: rateLimitFetch": [["docs/without-react.md", "| `rateLimitFetch`"]],
  "/fetch/react": [["docs/react.md", "| `trpc-rate-limit/fetch/react`"]],
  "/admin: what a page loads first": [
    ["docs/admin.md", "minified and gzipped, with the arithmetic"],
  ],
  "/admin: with all its views": [["docs/admin.md", "with all of them"]],
  "/devtools, in production": [["docs/devtools.md", "the bundle has nothing of the panel"]],
};

it.each(limits)("$name is at most $limit on each page that says it", async ({ name, limit }) => {
  const places = SHOWN[name] ?? [];
  expect(places).not.toEqual([]);
  for (const [page, text] of places) {
    const { text: all } = await readPage(page);
    const line = all.split("\n").find((each) => each.includes(text));
    expect(line, `${text} of ${page}`).toContain(`${limit} at most`);
  }
});
