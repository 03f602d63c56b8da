/** The edits of a page without tRPC: its hooks, its provider, and a button that shows the wait. */
import type { Code } from "../code/code.js";
import { importText, WIDTH } from "../code/imports.js";
import { endOf, startOf } from "../code/syntax.js";
import { buttonOf, sendOf } from "../facts/action.js";
import { type Page, placeOfProvider } from "../facts/page.js";

const [OPEN, CLOSE] = ["<RateLimitProvider>", "</RateLimitProvider>"];

export interface HooksOptions {
  page: Pick<Page, "isTyped">;
  url: string;
  /** The module with the limiter. */
  limits: string;
  /** Whether the page is one of Next, where other files run on the server alone. */
  isNext: boolean;
}

export function hooksText({ page: { isTyped }, url, limits, isNext }: HooksOptions): string {
  const type = isTyped ? "<typeof limiter>" : "";
  return `${isNext ? `"use client";\n\n` : ""}${importText("trpc-rate-limit/fetch/react", ["createRateLimitReact"])}
${isTyped ? `import type { limiter } from "${limits}";\n` : ""}
/** Hooks and components that know the limits of the server by name. */
export const {
  RateLimitButton,
  RateLimitCountdown,
  RateLimitProvider,
  useRateLimit,
  useRateLimitedAction,
  useRateLimitedMutation,
} = createRateLimitReact${type}({ url: "${url}" });
`;
}

/** Puts the page into the provider. */
export function editRoot(code: Code, from: string): boolean {
  const node = placeOfProvider(code);
  if (node === undefined) return false;
  const [start, end] = [startOf(node), endOf(node)];
  const { text, unit } = code;
  const indent = code.indentAt(start);
  const isAlone = /^\s*$/.test(text.slice(text.lastIndexOf("\n", start - 1) + 1, start));
  const inner = isAlone ? indent : indent + unit;
  const line = `${OPEN}${code.textOf(node)}${CLOSE}`;
  const isShort = node.type !== "JSXElement" && inner.length + line.length <= WIDTH;
  const child = code.shifted(start, end, isAlone ? unit : unit + unit);
  const body = isShort ? line : `${OPEN}\n${inner}${unit}${child}\n${inner}${CLOSE}`;
  // In a line with its parent, such as `<body>{children}</body>`.
  const isBetween = text[start - 1] === ">";
  if (isAlone) code.replace(start, end, body);
  else if (isBetween) code.replace(start, end, `\n${inner}${body}\n${indent}`);
  else {
    // As formatters write an element of several lines: in a call, or after `return` and `=>`.
    const isArgument = /[(,]\s*$/.test(text.slice(0, start));
    const comma = isArgument && /^\s*\)/.test(text.slice(end)) ? "," : "";
    const [open, close] = isArgument ? ["", ""] : ["(", ")"];
    code.replace(start, end, `${open}\n${inner}${body}${comma}\n${indent}${close}`);
  }
  code.addImport(from, ["RateLimitProvider"]);
  return true;
}

export const rootLines = (from: string): string =>
  `${importText(from, ["RateLimitProvider"])}\n\n// Around the page:\n${OPEN}{children}${CLOSE}`;

export const buttonLines = (from: string): string =>
  `${importText(from, ["RateLimitButton"])}

// In place of a <button>. While the limit is used up, it is disabled and counts down.
<RateLimitButton name="createPost" onClick={send}>
  Send
</RateLimitButton>`;

/** Makes the button that calls `target` one that is disabled, and counts down, while the limit is used up. */
export function editButton(code: Code, target: string, from: string): boolean {
  const send = sendOf(code, target);
  const button = send && buttonOf(code, send);
  if (button === undefined) return false;
  const { openingElement, closingElement } = button;
  const { name, attributes } = openingElement;
  const [next] = attributes;
  const gap = next ? code.text.slice(endOf(name), startOf(next)) : " ";
  code.replace(startOf(name), endOf(name), `RateLimitButton${gap}name="createPost"`);
  if (closingElement) {
    code.replace(startOf(closingElement.name), endOf(closingElement.name), "RateLimitButton");
  }
  code.addImport(from, ["RateLimitButton"]);
  return true;
}
