import { describe, expect, it } from "vitest";
import { descriptionOf, SITE_DESCRIPTION, withDescription } from "../../site/description.js";
import { readPages } from "../../site/pages.js";

const long = "A sentence that is long enough to stand alone, as most of them are on these pages.";

describe("the description of a page", () => {
  it.each([
    [`# Limits\n\n${long} Another one.\n`, long],
    [`# A\n\nShort. ${long} A third one.`, `Short. ${long}`],
    [`# A\n\n**In short:** a call takes an estimate. ${long}`, `A call takes an estimate. ${long}`],
    [
      `# A\n\n\`b\` is [a *page*](c.md#d) of **bold** words, [\`e\`](f) and ![no image](g.png) at all:`,
      "b is a *page* of bold words, e and at all.",
    ],
    [`# A\n\n| b | c |\n| --- | --- |\n\n- d\n\n1. e\n\n<img src="f">\n\n## G\n\n${long}`, long],
    [`# A\n\n\`\`\`ts\nconst a = 1;\n\`\`\`\n\n${long}`, long],
    [`# A\n\n> ${long}\n> Another one.`, long],
    [
      `# A\n\n${long.slice(0, -1)} with e.g. tRPC 11.2 and v. 2.`,
      `${long.slice(0, -1)} with e.g. tRPC 11.2 and v. 2.`,
    ],
    [long, long],
    [
      `# A\n\n\`use<B>()\` is <b>what</b> makes hooks of the type of your router for a page.`,
      "use<B>() is what makes hooks of the type of your router for a page.",
    ],
    ["# A", SITE_DESCRIPTION],
    ["", SITE_DESCRIPTION],
  ])("%j", (text, description) => {
    expect(descriptionOf(text)).toBe(description);
  });

  it("ends at a word where the sentence is too long", () => {
    const text = descriptionOf(`# A\n\n${"many words, ".repeat(40)}`);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toMatch(/many(?: words)?…$/);
  });

  it("is in what VitePress reads, also with quotes, and does not replace one of the page's own", () => {
    expect(withDescription(`# A\n\nSay "b": ${long}`)).toBe(
      `---\ndescription: "Say \\"b\\": ${long}"\n---\n\n# A\n\nSay "b": ${long}`,
    );
    const own = "---\ndescription: b\n---\n\n# A";
    expect(withDescription(own)).toBe(own);
  });

  it("is a whole one for each page of the documentation", async () => {
    const pages = (await readPages()).filter(({ file }) => !file.includes("reference/"));
    const odd = pages.flatMap(({ source, text }) => {
      const told = descriptionOf(text);
      const isWhole = /^[^\s*[|<#].{20,199}[.!?…]$/.test(told) && !/\]\(|`|\*\*/.test(told);
      return isWhole ? [] : [`${source}: ${told}`];
    });
    expect(odd).toEqual([]);
  });
});
