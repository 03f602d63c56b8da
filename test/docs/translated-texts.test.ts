/**
 * Code that readers copy survives the translator of a browser, which puts elements in place of texts.
 * React then throws when it removes a text that stands beside other children, and cannot change that
 * text. A text that is the only child of its element is safe.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "@babel/parser";
import { isNode, type Node } from "@babel/types";
import { glob } from "tinyglobby";
import { describe, expect, it } from "vitest";
import { blocksOf, publishedPages, ROOT } from "./pages.js";

/** Whether an expression can be a text, as far as its own syntax says it. */
function canBeText(node: Node): boolean {
  switch (node.type) {
    case "JSXText":
    case "StringLiteral":
    case "TemplateLiteral":
      return true;
    case "JSXExpressionContainer":
      return canBeText(node.expression);
    case "ConditionalExpression":
      return canBeText(node.consequent) || canBeText(node.alternate);
    case "LogicalExpression":
      return canBeText(node.left) || canBeText(node.right);
    default:
      return false;
  }
}

/** What can change, come or go while the page is open. */
function canChange(node: Node): boolean {
  if (node.type === "JSXExpressionContainer") return node.expression.type !== "StringLiteral";
  return node.type === "JSXElement" && /Countdown/.test(nameOf(node));
}

function nameOf(node: Node): string {
  const { name } = node.type === "JSXElement" ? node.openingElement : { name: undefined };
  return name?.type === "JSXIdentifier" ? name.name : "";
}

/** Texts that share their element with something that changes: the code of that element. */
function mixedTextsIn(code: string): string[] {
  const found: string[] = [];
  function visit(node: Node): void {
    if (node.type === "JSXElement" || node.type === "JSXFragment") {
      const isKept = code.slice(node.start!, node.start! + 200).match(/^<[^>]*translate="no"/);
      if (isKept) return;
      const children = node.children.filter(
        (child) =>
          !(child.type === "JSXText" && /^\s*\n\s*$/.test(child.value)) &&
          !(
            child.type === "JSXExpressionContainer" &&
            child.expression.type === "JSXEmptyExpression"
          ),
      );
      if (children.length > 1 && children.some(canBeText) && children.some(canChange)) {
        found.push(code.slice(node.start!, node.end!).replace(/\s+/g, " "));
      }
    }
    for (const value of Object.values(node) as unknown[]) {
      for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
        if (isNode(each as Node)) visit(each as Node);
      }
    }
  }
  visit(parse(code, { sourceType: "module", plugins: ["typescript", "jsx"] }).program);
  return found;
}

/** A text before a countdown, in code with gaps that no parser reads. */
const BEFORE_COUNTDOWN = /[\w.,] *<RateLimitCountdown/;

describe("the rule", () => {
  it.each([
    "<p>Wait <RateLimitCountdown retryAt={at} /></p>",
    "<p>{held} waiting</p>",
    '<p>{isOpen && "open"}{isLate && "late"}</p>',
    '<p>{ok ? "Send" : "Wait"}<b /></p>',
  ])("finds %s", (code) => {
    expect(mixedTextsIn(`(${code})`)).toHaveLength(1);
  });

  it.each([
    "<p><span>Wait </span><RateLimitCountdown retryAt={at} /></p>",
    "<p>{`${held} waiting`}</p>",
    "<p>Nothing <b>changes</b> here</p>",
    '<p>{ok ? "Send" : <b>Wait</b>}</p>',
  ])("lets %s pass", (code) => {
    expect(mixedTextsIn(`(${code})`)).toEqual([]);
  });
});

it("keeps each text that changes in an element of its own, on every page", async () => {
  const blocks = (await publishedPages()).flatMap(blocksOf).filter((b) => b.language === "tsx");
  expect(blocks.length).toBeGreaterThan(10);
  const unread: string[] = [];
  const found = blocks.flatMap(({ page, code }) => {
    try {
      return mixedTextsIn(code).map((text) => `${page}: ${text}`);
    } catch {
      unread.push(page);
      return BEFORE_COUNTDOWN.test(code) ? [page] : [];
    }
  });
  // Pieces of files.
  expect([...new Set(unread)]).toEqual(["docs/next.md"]);
  expect(found).toEqual([]);
});

it("does so in the demo, the starter and the components", async () => {
  const files = await glob(
    ["{example-app,client,site/starter}/**/*.tsx", "test/{t3-app/src,scaffolds}/**/*.tsx"],
    { cwd: ROOT, ignore: ["**/{dist,node_modules,.tmp,.next}/**"] },
  );
  expect(files.length).toBeGreaterThan(50);
  const found: string[] = [];
  for (const file of files) {
    const code = await readFile(join(ROOT, file), "utf8");
    found.push(...mixedTextsIn(code).map((text) => `${file}: ${text}`));
  }
  expect(found).toEqual([]);
});

it("does so in what init prints", async () => {
  const files = await glob(["cli/init/**/*.ts", "test/cli/init/diffs/*.txt"], { cwd: ROOT });
  const texts = await Promise.all(files.map((file) => readFile(join(ROOT, file), "utf8")));
  const shown = texts.filter((text) => text.includes("<RateLimitCountdown"));
  expect(shown.length).toBeGreaterThan(1);
  for (const text of shown) expect(text).not.toMatch(BEFORE_COUNTDOWN);
});
