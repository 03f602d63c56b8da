import { describe, expect, it } from "vitest";
import { isDrawing, pathOf, withShownCode } from "../../site/code-blocks.js";

const shown = (text: string) => withShownCode(text, "docs/a.md");
const block = (info: string, ...lines: string[]) => ["```" + info, ...lines, "```"].join("\n");

describe("the title of a block", () => {
  it.each([
    ["ts", "// server/router.ts", "server/router.ts"],
    ["ts", "// src/routes/api/trpc.$.ts", "src/routes/api/trpc.$.ts"],
    ["tsx", "// app/(main)/[slug]/page.tsx", "app/(main)/[slug]/page.tsx"],
    ["ts", "// vite.config.ts", "vite.config.ts"],
    ["sh", "# .env", ".env"],
    ["yaml", "# .github/workflows/a.yml", ".github/workflows/a.yml"],
    ["sql", "-- migrations/1.sql", "migrations/1.sql"],
    ["html", "<!-- index.html -->", "index.html"],
    ["css", "/* app/page.css */", "app/page.css"],
    ["ts", "// server/router.ts\r", "server/router.ts"],
  ])("of %s is the path in %j", (info, line, path) => {
    const title = `title=${encodeURIComponent(path)}`;
    expect(shown(block(info, line, "", "a"))).toBe(block(`${info} ${title}`, "a"));
    expect(shown(block(info, line, "a"))).toBe(block(`${info} ${title}`, "a"));
  });

  it.each([
    "// The limit of a user",
    "// Node.js",
    "// e.g.",
    "// 1.5",
    "# patroni.yml, what matters here",
    "// https://trpc.io/docs/a.html?b",
    "server/router.ts",
    "//",
    "",
  ])("is none for %j", (line) => {
    expect(pathOf({ lines: [line, "a"] })).toBeUndefined();
    expect(shown(block("ts", line, "a"))).toBe(block("ts", line, "a"));
  });

  it("is none where the block would be empty", () => {
    for (const text of [block("ts", "// a.ts"), block("ts", "// a.ts", ""), block("ts")])
      expect(shown(text)).toBe(text);
  });

  it("keeps what a block is in, and a block within a block", () => {
    expect(shown("- a\n\n  ```ts\n  // b/c.ts\n  d\n    e\n  ```\nf")).toBe(
      "- a\n\n  ```ts title=b%2Fc.ts\n  d\n    e\n  ```\nf",
    );
    const nested = "````md\n```ts\n// b/c.ts\nd\n```\n````";
    expect(shown(nested)).toBe(nested);
  });
});

describe("highlighted lines", () => {
  it.each([
    ["ts {2,4}", "ts{1,3}"],
    ["ts{3-5}", "ts{2-4}"],
    ["ts {1}", "ts"],
    ["ts {1-2}", "ts{1}"],
    ["ts {9-2}", "ts"],
    ["ts {-}", "ts"],
    ["ts {}", "ts"],
  ])("are counted with the path, which is gone: %s", (info, kept) => {
    expect(shown(block(info, "// a/b.ts", "c", "d", "e", "f"))).toBe(
      block(`${kept} title=a%2Fb.ts`, "c", "d", "e", "f"),
    );
  });

  it("are left to VitePress where nothing is gone", () => {
    const text = block("ts {2,4}", "a", "b", "c", "d");
    expect(shown(text)).toBe(text);
  });
});

describe("tabs", () => {
  it("are made of commands of npm", () => {
    expect(shown(`a\n\n${block("sh", "npm i b")}\n\nc`)).toBe(
      [
        "a\n\n::: code-group\n",
        block("sh [npm]", "npm i b"),
        "",
        block("sh [pnpm]", "pnpm add b"),
        "",
        block("sh [yarn]", "yarn add b"),
        "",
        block("sh [bun]", "bun add b"),
        "\n:::\n\nc",
      ].join("\n"),
    );
  });

  it("are made of the blocks below a comment that names them", () => {
    const blocks = [block("ts {3}", "// a/b.ts", "", "c"), block("ts", "d")];
    expect(shown(`<!-- tabs: Prisma, pg -->\n\n${blocks.join("\n\n")}\n\ne`)).toBe(
      [
        "\n::: code-group\n",
        block("ts{1} [Prisma] title=a%2Fb.ts", "c"),
        "",
        block("ts [pg]", "d"),
        "\n:::\n\ne",
      ].join("\n"),
    );
  });

  it.each([
    ["with a sentence between", `${block("ts", "a")}\n\nb\n\n${block("ts", "c")}`],
    ["at the end of the page", block("ts", "a")],
    ["followed by nothing", ""],
  ])("need a block each: %s", (_title, rest) => {
    expect(() => shown(`<!-- tabs: Prisma, pg -->\n\n${rest}`)).toThrow(
      /^docs\/a\.md: of the tabs Prisma, pg, [01] have a block$/,
    );
  });
});

it.each([
  ["+-----+\n| a   |", true],
  ["a --> b", true],
  ["┌──┐", true],
  ["X-Forwarded-For: 203.0.113.9", false],
  ["a - b -- c", false],
  ["", false],
])("%j is a drawing: %s", (text, expected) => {
  expect(isDrawing(text)).toBe(expected);
});
