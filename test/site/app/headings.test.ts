import { expect, it } from "vitest";
import { claimIn, claimOf, introIn, introOf } from "../../../site/app/headings.js";

it("takes the claim of the overview", () => {
  expect(claimOf()).toMatch(
    /^<section class="overview"><header>.*<h2 id="part-title">[A-Z][^<>{}]+<\/h2>/,
  );
});

it("takes its words from JSX, with the line above it", () => {
  const jsx = `<header>\n <p>Above</p>\n <Title id="a" tabIndex={-1}>\n  Two\n  lines.\n </Title>\n</header>`;
  expect(claimIn(jsx)).toBe('<p>Above</p><h2 id="a">Two lines.</h2>');
  expect(claimIn(`<p>Elsewhere</p><div /><Title id="b">a{" "}\n b</Title>`)).toBe(
    '<h2 id="b">a b</h2>',
  );
});

it.each(["", '<Title id="a">{title}</Title>', "<Title>a</Title>", "<h2>a</h2>"])(
  "refuses a title that it cannot read: %j",
  (jsx) => {
    expect(() => claimIn(jsx)).toThrow("has no <Title> of plain text");
  },
);

it("has the title and the lead of a part, if both are plain text", () => {
  expect(introIn('<Part\n  title="Try it"\n  lead="Press it."\n>')).toBe(
    '<section class="part"><div class="intro"><h1>Try it</h1><p>Press it.</p></div></section>',
  );
  expect(introOf()).toContain("<h1>Playground</h1><p>");
  expect(() => introIn('<Part title="Try it" lead={lead}>')).toThrow("has no title or lead");
});
