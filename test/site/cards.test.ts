import { expect, it } from "vitest";
import { withCards } from "../../site/cards.js";

const INDEX = "docs/README.md";

it("makes a card of each page that a list of an index names", () => {
  const list = "- [tRPC](/docs/trpc): the middleware\n- [Holds](/docs/holds): `hold`, and more";
  expect(withCards(`## Begin\n\n${list}\n\nMore.`, INDEX)).toBe(
    `## Begin\n\n<div class="cards">\n\n` +
      "- [tRPC](/docs/trpc) <span>The middleware</span>\n" +
      "- [Holds](/docs/holds) <span>`hold`, and more</span>" +
      "\n\n</div>\n\nMore.",
  );
});

it("makes a card of a file that has no address yet, beside pages", () => {
  const list = "- [Holds](/docs/holds): `hold`\n- Security: report a vulnerability";
  expect(withCards(list, INDEX)).toContain(
    "\n- **Security** <span>Report a vulnerability</span>\n",
  );
});

it("makes a card of each row of a table", () => {
  const table = "| guide | about |\n| --- | --- |\n| [Plans](/docs/guides/plans) | tRPC first   |";
  expect(withCards(table, "docs/guides/README.md")).toBe(
    `<div class="cards">\n\n- [Plans](/docs/guides/plans) <span>tRPC first</span>\n\n</div>`,
  );
});

it("tells links alone, and words with the page that explains them, from cards", () => {
  expect(withCards("- [Who is limited?](/docs/a#who)", INDEX)).toBe(
    `<div class="links">\n\n- [Who is limited?](/docs/a#who)\n\n</div>`,
  );
  expect(withCards("- `rate`, `period`: [the limits](/docs/limits)", INDEX)).toBe(
    `<div class="words">\n\n- <span>\`rate\`, \`period\`</span> [The limits](/docs/limits)\n\n</div>`,
  );
});

it("leaves other lists, tables and pages as they are", () => {
  const others = "- a\n- [b](/docs/b): c\n\n| a | b |\n| - | - |\n| c | [d](/docs/d) |\n\nText.\n";
  expect(withCards(others, INDEX)).toBe(others);
  expect(withCards("- [b](/docs/b): c", "docs/limits.md")).toBe("- [b](/docs/b): c");
});
