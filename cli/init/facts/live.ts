/** Decides whether pages learn of changes by a stream, or poll. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import {
  bare,
  declaredIn,
  findAll,
  isFunction,
  nameOf,
  propertyOf,
  returnsOf,
} from "../code/syntax.js";
import type { List } from "./links.js";

/** `why` is the note for the author. */
export type Live = { mode: "stream" } | { mode: "poll"; why: string };

const STREAM: Live = { mode: "stream" };
const NATIVE =
  "React Native has no EventSource, so its pages poll; see docs/react.md of trpc-rate-limit.";
const HEADERS = (file: string) =>
  `The client in ${file} sends headers that say who calls, and a stream of events sends none of them, ` +
  'so its pages poll (live="poll"). To stream, add a link with connectionParams: docs/live.md of ' +
  "trpc-rate-limit.";

/**
 * A stream of events has the cookies of a page, and none of the headers of its client. Without the header
 * that says who calls, a stream shows the limits of another caller.
 */
export function liveOf(code: Code, list: List, isNative: boolean): Live {
  // The author has streams with a caller already.
  if (list.subscribes && /\bconnectionParams\b/.test(code.text)) return STREAM;
  if (isNative) return { mode: "poll", why: NATIVE };
  return saysWhoCalls(code, list) ? { mode: "poll", why: HEADERS(code.file) } : STREAM;
}

function saysWhoCalls(code: Code, { settings }: List): boolean {
  return settings.some((each) => {
    const headers = propertyOf(each, "headers");
    const value = headers?.type === "ObjectProperty" ? headers.value : headers;
    if (value !== undefined && !hasFixedHeaders(bare(value))) return true;
    const fetch = propertyOf(each, "fetch");
    const text = fetch === undefined ? "" : code.textOf(declaredBy(code, fetch) ?? fetch);
    return /\bauthorization\b|\bbearer\b/i.test(text);
  });
}

/** The function of the file that a property names. */
function declaredBy({ program }: Code, property: Node): Node | undefined {
  const name = property.type === "ObjectProperty" ? nameOf(property.value) : undefined;
  return declaredIn(program).find((each) => each.name === name)?.value;
}

const OF_CALLER = /auth|cookie|key|session|token|user/i;

/** Whether the headers are the same for all callers, such as `"x-trpc-source": "react"`. */
function hasFixedHeaders(value: Node): boolean {
  if (!isFunction(value)) return isFixed(value);
  const locals = findAll(value.body, "VariableDeclarator");
  const isReturnedFixed = returnsOf(value).every((each) => {
    const local = locals.find(({ node }) => nameOf(node.id) === nameOf(each))?.node.init;
    return isFixed(bare(local ?? each));
  });
  const added = [
    ...findAll(value.body, "CallExpression")
      .filter(({ node }) => ["append", "set"].includes(nameOf(node.callee) ?? ""))
      .map(
        ({
          node: {
            arguments: [name, text],
          },
        }) => [name, text] as const,
      ),
    ...findAll(value.body, "AssignmentExpression").map(
      ({ node: { left, right } }) => [left, right] as const,
    ),
  ];
  return isReturnedFixed && added.every(([name, text]) => isFixedHeader(name, text));
}

function isFixed(value: Node): boolean {
  if (value.type === "NewExpression") {
    return nameOf(value.callee) === "Headers" && value.arguments.every(isFixed);
  }
  return (
    value.type === "ObjectExpression" &&
    value.properties.every(
      (each) => each.type === "ObjectProperty" && isFixedHeader(each.key, each.value),
    )
  );
}

const isFixedHeader = (name: Node | undefined, text: Node | undefined) =>
  text?.type === "StringLiteral" && !OF_CALLER.test(nameOf(name) ?? "auth");
