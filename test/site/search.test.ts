import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createSearch, wordsOf } from "../../site/search.js";
import { indexOf } from "../../site/search-index.js";

const PAGES = new Map([
  ["docs/bun.md", "# Bun\n\nThe limiter runs in Bun."],
  ["docs/support.md", "# Ban and exempt\n\nLook, ban and exempt.\n\n## Roles\n\nWho may ban."],
  ["docs/errors.md", "# Errors\n\nA denial is a 429.\n\n## Fields\n\nThe retry of a 429."],
  ["docs/comparison.md", "# Comparison\n\nA 429, a 429 and a 429, with reduction."],
  ["docs/redis.md", "# Redis\n\nA store."],
  ["docs/changelog.md", "# Changes\n\n## Redis\n\nSupport, ban, 429 and Redis."],
  ["docs/reference/react/useLimit.md", "# useLimit\n\nA hook."],
  ["docs/react.md", "# React\n\n## Read\n\n`useLimit` reads a limit."],
]);
const search = createSearch(indexOf(PAGES), { "too many requests": "errors", whitelist: "exempt" });
const linksOf = (query: string) => search(query).map(({ link }) => link);

it("splits a text into its words, without those that every text has", () => {
  expect(wordsOf("Limits: the two kinds")).toEqual(["limit", "two", "kind"]);
  expect(wordsOf("Redis, status, access, buses")).toEqual(["redis", "status", "access", "buse"]);
});

it("has a name that ends with .js in one piece, too", () => {
  expect(wordsOf("Next.js and T3")).toEqual(["next", "js", "t3", "nextjs"]);
  // The files of code blocks are no names.
  expect(wordsOf('from "./limits.js"')).not.toContain("limitsjs");
});

it("finds a word itself, and no other word that is written in a similar way", () => {
  expect(linksOf("ban")).toEqual(["docs/support", "docs/support#roles", "docs/changelog#redis"]);
});

it("finds a word with a wrong letter where there is nothing else", () => {
  expect(linksOf("comparisen")).toEqual(["docs/comparison"]);
  expect(linksOf("xyz")).toEqual([]);
  expect(linksOf("")).toEqual([]);
});

it("finds words that are not typed to their end, after the word itself", () => {
  expect(linksOf("red")).toEqual(["docs/redis", "docs/comparison", "docs/changelog#redis"]);
});

it("finds what has all words before what has some of them", () => {
  expect(linksOf("429 retry")[0]).toBe("docs/errors#fields");
  expect(linksOf("ban exempt")[0]).toBe("docs/support");
});

it("knows what readers call a thing, also while they type it", () => {
  expect(linksOf("too many requests")[0]).toBe("docs/errors");
  expect(linksOf("whitelist")).toEqual(["docs/support"]);
  expect(linksOf("white")).toEqual(["docs/support"]);
  expect(search("whitelist")[0]).toEqual({
    link: "docs/support",
    title: "Ban and exempt",
    page: undefined,
    words: ["exempt"],
  });
});

it("finds the reference and the changes last, but for the name of an entry", () => {
  expect(linksOf("redis")).toEqual(["docs/redis", "docs/changelog#redis"]);
  expect(linksOf("useLimit")[0]).toBe("docs/reference/react/useLimit");
  expect(linksOf("uselimit")[0]).toBe("docs/react#read");
});

it("finds at most three sections of a page", () => {
  const sections = Array.from({ length: 9 }, (_, i) => `## Limit ${i}\n\nText.`).join("\n\n");
  const found = createSearch(indexOf(new Map([["docs/a.md", `# All\n\n${sections}`]])), {});
  expect(found("limit")).toHaveLength(3);
});

it("has synonyms that lead to words of the documentation", () => {
  const synonyms = JSON.parse(
    readFileSync(new URL("../../site/synonyms.json", import.meta.url), "utf8"),
  ) as Record<string, string>;
  const phrases = Object.keys(synonyms).map((said) => wordsOf(said).join(" "));
  // Two entries for one word, such as "tier" and "tiers", would be two places to change.
  expect(new Set(phrases).size).toBe(phrases.length);
  expect(phrases.filter((said) => said === "" || said.split(" ").length > 3)).toEqual([]);
});
