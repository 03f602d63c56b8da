import { expect, it } from "vitest";
import { headingIn, heroOf, introIn, introOf } from "../../../site/app/hero.js";

it("takes the heading of the overview", () => {
  expect(heroOf()).toMatch(/^<section class="overview"><header>.*<h1>[A-Z][^<>{}]+<\/h1>/);
});

it("takes its words from JSX, with the line above it", () => {
  const jsx = `<header>\n <p>Above</p>\n <h1 id="a" tabIndex={-1}>\n  Two\n  lines.\n </h1>\n</header>`;
  expect(headingIn(jsx)).toBe("<p>Above</p><h1>Two lines.</h1>");
  expect(headingIn(`<p>Elsewhere</p><div /><h1>a{" "}\n b</h1>`)).toBe("<h1>a b</h1>");
});

it.each(["", "<h1>{title}</h1>", "<h2>a</h2>"])(
  "refuses a heading that it cannot read: %j",
  (jsx) => {
    expect(() => headingIn(jsx)).toThrow("has no <h1> of plain text");
  },
);

it("has the title and the lead of a part, if both are plain text", () => {
  expect(introIn('<Part\n  title="Try it"\n  lead="Press it."\n>')).toBe(
    '<section class="part"><div class="intro"><h1>Try it</h1><p>Press it.</p></div></section>',
  );
  expect(introOf()).toContain("<h1>Playground</h1><p>");
  expect(() => introIn('<Part title="Try it" lead={lead}>')).toThrow("has no title or lead");
});
