import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withLiveParts } from "../../site/live-parts.js";
import { ROOT } from "../../site/pages.js";

it("stands for a comment in a line of its own, and has a page of the site", () => {
  const shown = withLiveParts(
    "a\n\n<!-- live: bucket -->\n\nb `<!-- live: bucket -->`",
    "docs/a.md",
  );
  const part = /^<LivePart path="([^"]+)" title="[^"]{10,}" :heights="\[\d+, \d+, \d+\]" \/>$/m;
  const [, path = ""] = part.exec(shown) ?? [];
  expect(existsSync(join(ROOT, "site/app", path, "index.html"))).toBe(true);
  expect(shown).toMatch(/^a\n\n<LivePart .*\n\nb `<!-- live: bucket -->`$/);
});

it("has to exist", () => {
  expect(() => withLiveParts("<!-- live: none -->", "docs/a.md")).toThrow(
    `docs/a.md: there is no live part "none"`,
  );
});
