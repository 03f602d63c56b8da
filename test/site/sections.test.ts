import { expect, it } from "vitest";
import { sectionsOf } from "../../site/sections.js";

const PAGE = `---
description: a page
---

# Limits

**In short:** a \`kind\`, and [a rate](/docs/rate).

## The kinds

| kind           | refills   |
| -------------- | --------- |
| \`token bucket\` | *always*  |

- Two of them
1. in this order

\`\`\`ts
# not a heading
const a = b | c;
\`\`\`

## The kinds

<code>A&lt;B&gt;</code>
`;

it("splits a page at its headings, with the anchors that the page has", () => {
  const places = sectionsOf(PAGE).map(({ anchor, title }) => [anchor, title]);
  expect(places).toEqual([
    ["", "Limits"],
    ["the-kinds", "The kinds"],
    ["the-kinds-1", "The kinds"],
  ]);
});

it("has the text as a reader sees it, with the code", () => {
  expect(sectionsOf(PAGE).map(({ text }) => text)).toEqual([
    "A kind, and a rate.",
    "kind refills token bucket *always* Two of them in this order # not a heading const a = b | c;",
    "A<B>",
  ]);
});
