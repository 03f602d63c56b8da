import { describe, expect, it } from "vitest";
import { rewrite, standingAlone } from "../../site/markdown.js";
import { fileOf } from "../../site/pages.js";

const repository = "https://github.com/ada/limits";

function rewritten(source: string, text: string, isKnown = true) {
  const known = isKnown ? repository : undefined;
  const rewriting = { repository: known, assets: new Set<string>(), lost: [] as string[] };
  const page = { source, file: fileOf(source)!, text };
  return { text: rewrite(page, rewriting), ...rewriting };
}

describe("a link of a page", () => {
  it.each([
    ["docs/trpc.md", "[a](tabs.md#many-tabs)", "[a](/docs/tabs#many-tabs)"],
    ["docs/guides/vite.md", "[a](../react.md)", "[a](/docs/react)"],
    [
      "docs/guides/vite.md",
      "[a](../../README.md#quick-start)",
      "[a](/docs/introduction#quick-start)",
    ],
    ["docs/trpc.md", "[a](../CHANGELOG.md)", "[a](/docs/changelog)"],
    [
      "docs/trpc.md",
      "[a](guides/README.md) and [b](guides)",
      "[a](/docs/guides/) and [b](/docs/guides/)",
    ],
    ["docs/trpc.md", "[a](reference.md)", "[a](/docs/reference/)"],
    ["docs/trpc.md", "[a](#errors)", "[a](#errors)"],
    ["docs/trpc.md", "[a](https://trpc.io/docs#x)", "[a](https://trpc.io/docs#x)"],
  ])("of %s: %s becomes %s", (source, before, after) => {
    expect(rewritten(source, before).text).toBe(after);
  });

  it("to another file or folder leads to the repository", () => {
    const { text } = rewritten(
      "docs/table.md",
      "[a](../prisma/mysql/) [b](../CONTRIBUTING.md#style)",
    );
    expect(text).toBe(
      `[a](${repository}/tree/main/prisma/mysql) [b](${repository}/blob/main/CONTRIBUTING.md#style)`,
    );
  });

  it("to another file becomes a text while the repository's address is not known", () => {
    const { text, lost } = rewritten("docs/table.md", "[The folder](../prisma)", false);
    expect([text, lost]).toEqual(["The folder", ["docs/table.md: ../prisma"]]);
  });

  it("that leads nowhere stops the build", () => {
    expect(() => rewritten("docs/table.md", "[a](gone.md)")).toThrow(
      "docs/table.md links to gone.md: no such file",
    );
  });

  it("is left alone in a block of code", () => {
    const code = "```md\n[a](gone.md) `core/hash.ts`\n```\n";
    expect(rewritten("docs/table.md", code).text).toBe(code);
  });
});

it("takes images along", () => {
  const { text, assets } = rewritten("docs/performance.md", "![curves](performance.svg)");
  expect(text).toBe("![curves](/docs/performance.svg)");
  expect([...assets]).toEqual(["docs/performance.svg"]);
  const html = rewritten("README.md", '<img src="docs/demo.webp" alt="x" width="2">');
  expect(html.text).toBe('<img src="/docs/demo.webp" alt="x" width="2">');
  expect([...html.assets]).toEqual(["docs/demo.webp"]);
});

it("links the files that a page names to the repository, and no others", () => {
  const { text } = rewritten(
    "docs/guarantees.md",
    "- `core/hash.ts`, `core/gone.ts`, `retryAfter`",
  );
  expect(text).toBe(
    `- [\`core/hash.ts\`](${repository}/blob/main/core/hash.ts), \`core/gone.ts\`, \`retryAfter\``,
  );
});

it("makes links of the names of pages of the reference", () => {
  const { text } = rewritten(
    "docs/reference.md",
    "| `reference/server/` | `reference/server/pgStore.md` |",
  );
  expect(text).toBe(
    "| [`server`](/docs/reference/server/) | [`pgStore`](/docs/reference/server/pgStore) |",
  );
});

describe("a page that stands alone", () => {
  const root = "https://ada.github.io/limits/";

  it.each([
    ["[a](/docs/tabs#many-tabs)", `[a](${root}docs/tabs.md#many-tabs)`],
    [
      "[a](/docs/) [b](/docs/guides/)",
      `[a](${root}docs/index.md) [b](${root}docs/guides/index.md)`,
    ],
    ["![a](/docs/a.svg)", `![a](${root}docs/a.svg)`],
    [`<img src="/docs/a.webp" alt="b">`, `<img src="${root}docs/a.webp" alt="b">`],
    ["[a](#b) [c](https://trpc.io/d)", "[a](#b) [c](https://trpc.io/d)"],
    ["```md\n[a](/docs/react)\n```", "```md\n[a](/docs/react)\n```"],
    ["```ts\n// a/b.ts\nc\n```", "```ts\n// a/b.ts\nc\n```"],
  ])("has whole links, and its code as it was: %s", (before, after) => {
    expect(standingAlone(before, root)).toBe(after);
  });
});
