/**
 * The first questions of newcomers: README.md leads to the answers, by links and headings, in at most two
 * pages.
 */
import { describe, expect, it } from "vitest";
import { headingsOf, linksOf, type Question, START, textBelow, wayTo } from "./newcomer.js";
import { allPages, anchorsOf, type Page, readPage } from "./pages.js";

const QUESTIONS: readonly Question[] = [
  {
    question: "Which IP address can I trust on Vercel?",
    words: ["address", "vercel", "visitor"],
    page: "docs/visitors.md",
    heading: "Which address to believe",
    says: /TRUSTED_PROXIES`.*Vercel/,
  },
  {
    question: "What does a call cost, in ms and statements?",
    words: ["cost", "how fast", "performance"],
    page: "docs/cost.md",
    heading: "What a call costs",
    says: /statements[\s\S]*\d ms/,
  },
  {
    question: "Does it work behind Supabase's pooler?",
    words: ["supabase", "pooler"],
    page: "docs/databases.md",
    heading: "The pooler of Supabase",
    says: /prepare: false/,
  },
  {
    question: "What if the database is down?",
    words: ["database fails", "outage", "down"],
    page: "docs/guides/choosing-a-limit.md",
    heading: "When the database fails",
    says: /whenStoreFails: "allow"/,
  },
  {
    question: "How do I give one customer more?",
    words: ["customer", "raise"],
    page: "docs/recipes.md",
    heading: "One customer more",
    says: /overrides\.set\(.*times: 3/,
  },
  {
    question: "How do I test my application?",
    words: ["test"],
    page: "docs/guides/testing-an-application.md",
    heading: "Swap the limiter",
    says: /createManualClock/,
  },
  {
    question: "Who is limited now?",
    words: ["who is limited"],
    page: "docs/recipes.md",
    heading: "Who is limited now",
    says: /denied: true/,
  },
  {
    question: "How does a day begin at the user's midnight?",
    words: ["midnight", "time zone"],
    page: "docs/calendars.md",
    heading: "The user's own midnight",
    says: /timeZone: user\.timeZone/,
  },
  {
    question: "How many generations may run at a time?",
    words: ["at a time", "concurren", "generations"],
    page: "docs/guides/generations-at-a-time.md",
    heading: "Enter and release",
    says: /limiter\.enter\(/,
  },
  {
    question: "Does it work in React Native and Expo?",
    words: ["react native", "expo"],
    page: "docs/react.md",
    heading: "React Native and Expo",
    says: /EventSource/,
  },
  {
    question: "Does an upgrade change the table?",
    words: ["table", "upgrade"],
    page: "docs/compatibility.md",
    heading: "Upgrades of the table",
    says: /only a major version can need a migration/,
  },
  {
    question: "Does it work with oRPC, Elysia and NestJS?",
    words: ["orpc", "elysia", "nestjs"],
    page: "docs/http.md",
    heading: "oRPC, Elysia and NestJS",
    says: /A guide each: .*orpc\.md.*elysia\.md.*nestjs\.md/,
  },
];

const read = new Map((await allPages()).map((page) => [page.path, page]));

/** The pages with the text of some of them changed. */
function withText(change: (page: Page) => string): ReadonlyMap<string, Page> {
  return new Map([...read].map(([path, page]) => [path, { path, text: change(page) }]));
}

/** A page whose links to another one are plain words. */
const withoutLinksTo = (to: string) => (page: Page) =>
  linksOf(page)
    .filter(({ page: target }) => target === to)
    .reduce(
      (text, link) =>
        text.replaceAll(new RegExp(`\\[${escaped(link.text)}\\]\\([^)]*\\)`, "g"), ""),
      page.text,
    );

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");

describe.each(QUESTIONS)("$question", (asked) => {
  const { page, heading, says } = asked;

  it("is answered below a heading, at most two pages from README.md", () => {
    expect(wayTo(read, asked), `from ${START} to ${page}`).toBeDefined();
    expect(textBelow(read.get(page)!, heading), `"${heading}" of ${page}`).toMatch(says);
  });

  it("is a line of the first questions, which leads to the answer", async () => {
    const index = await readPage("docs/README.md");
    const questions = textBelow(index, "First questions")!;
    const row = questions.split("\n").find((line) => line.includes(asked.question));
    expect(row, `the line of "${asked.question}"`).toBeDefined();
    const [link] = linksOf({ path: index.path, text: row! });
    expect(link?.page).toBe(page);
    if (link?.anchor !== undefined) expect(anchorsOf(read.get(page)!)).toContain(link.anchor);
  });

  it("would not be found without its links", () => {
    expect(wayTo(withText(withoutLinksTo(page)), asked)).toBeUndefined();
  });
});

it("is told in the index how to begin, before the questions", async () => {
  const index = await readPage("docs/README.md");
  expect(headingsOf(index).slice(1, 3)).toEqual(["Begin", "First questions"]);
  const pages = linksOf({ path: index.path, text: textBelow(index, "Begin")! });
  const first = ["docs/guides/vite.md", "docs/cli.md"];
  expect(pages.slice(0, 2).map(({ page }) => page)).toEqual(first);
});

describe("the way to an answer", () => {
  const small = (readme: string, index = "") =>
    new Map(
      Object.entries({
        "README.md": readme,
        "docs/README.md": index,
        "docs/a.md": "# A\n\n[B](b.md)\n\n## The pooler",
        "docs/b.md": "# B\n\n[C](c.md)",
        "docs/c.md": "# C",
      }).map(([path, text]) => [path, { path, text }]),
    );
  const way = (pages: ReadonlyMap<string, Page>, page: string, words = ["pooler"]) =>
    wayTo(pages, { words, page });

  it("goes by the words of a link, or by a heading of its target", () => {
    expect(way(small("[Other](docs/a.md)"), "docs/a.md")).toEqual(["docs/a.md"]);
    expect(way(small("[The pooler](docs/b.md)"), "docs/b.md")).toEqual(["docs/b.md"]);
    expect(way(small("[Other](docs/b.md)"), "docs/b.md")).toBeUndefined();
  });

  it("may begin with the index, which counts as a page", () => {
    const pages = small("[All](docs/README.md)", "[Other](a.md)\n[Pooler](b.md)");
    expect(way(pages, "docs/b.md")).toEqual(["docs/README.md", "docs/b.md"]);
    expect(way(pages, "docs/c.md")).toBeUndefined();
  });

  it("ends where a heading that a link names is gone", () => {
    expect(way(small("[Pooler](docs/a.md#the-pooler)"), "docs/a.md")).toEqual(["docs/a.md"]);
    expect(way(small("[Pooler](docs/a.md#gone)"), "docs/a.md")).toBeUndefined();
  });

  it("finds the text below a heading, and none below a heading that is gone", () => {
    const page = { path: "docs/x.md", text: "# X\n\none\n\n## Y\n\ntwo\n" };
    expect(headingsOf(page)).toEqual(["X", "Y"]);
    expect(textBelow(page, "Y")).toContain("two");
    expect(textBelow(page, "X")).not.toContain("two");
    expect(textBelow(page, "Z")).toBeUndefined();
  });
});
