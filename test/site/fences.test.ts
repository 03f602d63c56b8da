import { describe, expect, it } from "vitest";
import { fenceOf, partsOf } from "../../site/fences.js";

const joined = (text: string) =>
  partsOf(text)
    .map((part) => (typeof part === "string" ? part : part.raw))
    .join("\n");
const blocksIn = (text: string) =>
  partsOf(text).flatMap((part) => (typeof part === "string" ? [] : [[part.info, ...part.lines]]));

describe("the parts of a page", () => {
  it.each([
    ["one block", "a\n\n```ts\nconst x = 1;\n```\n\nb\n"],
    ["nothing", ""],
    ["a block and nothing else", "```\n```"],
    ["a block that is not closed", "a\n```ts\nconst x = 1;\n"],
    ["line breaks of Windows", "a\r\n```ts\r\nb\r\n```\r\n"],
  ])("are the page again: %s", (_title, text) => {
    expect(joined(text)).toBe(text);
  });

  it.each([
    ["within a longer mark", "````md\n```ts\na\n```\n````\nb", [["md", "```ts", "a", "```"]]],
    ["of tildes", "~~~ts\n```\n~~~~\nb", [["ts", "```"]]],
    ["in a list", "- a\n\n  ```ts {2}\n  b\n    c\n  ```\n", [["ts {2}", "b", "  c"]]],
    ["that is not closed", "```ts\na", [["ts", "a"]]],
    ["with nothing in it", "```ts\n```\n\n```sh\na\n```", [["ts"], ["sh", "a"]]],
  ])("has a block %s", (_title, text, blocks) => {
    expect(blocksIn(text)).toEqual(blocks);
  });

  it.each(["`a` and ```b``` in a line", "``\nno block\n``", "text ``` text"])(
    "has no block in %j",
    (text) => {
      expect(blocksIn(text)).toEqual([]);
    },
  );
});

it("writes marks that are longer than those of the code", () => {
  const text = fenceOf("  ", "md", ["````", "", "a"]);
  expect(text).toBe("  `````md\n  ````\n\n  a\n  `````");
  expect(blocksIn(text)).toEqual([["md", "````", "", "a"]]);
});
