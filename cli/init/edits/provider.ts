/** The edit of the file of a page that provides its components with the limits. */
import type { JSXElement, Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importedFrom, WIDTH } from "../code/imports.js";
import { endOf, findAll, nameOf, startOf } from "../code/syntax.js";

export interface ProviderImports {
  /** The module from which the file imports the hooks; `undefined` if the file itself has the hooks. */
  hooks: string | undefined;
  client: string;
  /** The module from which the file imports the client; `undefined` if the file itself has the client. */
  clientFrom: string | undefined;
  polls: boolean;
}

/** The provider around the provider of the limits: the provider of tRPC, or else of queries. */
export function providerIn({ program }: Code): JSXElement | undefined {
  const elements = findAll(program, "JSXElement").map(({ node }) => node);
  const tagOf = ({ openingElement }: JSXElement) => openingElement.name;
  const has = ({ openingElement }: JSXElement, attribute: string) =>
    openingElement.attributes.some(
      (each) => each.type === "JSXAttribute" && each.name.name === attribute,
    );
  return (
    elements.find((each) => nameOf(tagOf(each)) === "TRPCProvider") ??
    elements.find((each) => nameOf(tagOf(each)) === "Provider" && has(each, "queryClient")) ??
    elements.find((each) =>
      ["QueryClientProvider", "PersistQueryClientProvider"].includes(nameOf(tagOf(each)) ?? ""),
    )
  );
}

/** Puts the children of this provider into the provider of the limits. */
export function editProvider(code: Code, options: ProviderImports): boolean {
  const element = providerIn(code);
  const closing = element?.closingElement;
  if (element === undefined || !closing) return false;
  const { hooks, client, clientFrom, polls } = options;
  const [start, end] = [endOf(element.openingElement), startOf(closing)];
  const { unit } = code;
  const indent = code.indentAt(startOf(element));
  const isOneLine = !code.textOf(element).includes("\n");
  const isBare = isOneLine && !parenthesized(element) && followsKeyword(code, element);
  const outer = isBare ? indent + unit : isOneLine ? indent : code.indentAt(endOf(element));
  const inner = outer + unit;
  const open = `<RateLimitProvider client={${client}}${polls ? ' live="poll"' : ""}>`;
  const close = "</RateLimitProvider>";
  const child = code.shifted(start, end, unit).trim();
  const line = `${inner}${open}${child}${close}`;
  const isShort = !child.includes("\n") && line.length <= WIDTH;
  const body = isShort ? line : `${inner}${open}\n${inner}${unit}${child}\n${inner}${close}`;
  code.replace(start, end, `\n${body}\n${outer}`);
  if (isBare) {
    code.insert(startOf(element), `(\n${indent}${unit}`);
    code.insert(endOf(element), `\n${indent})`);
  }
  if (hooks !== undefined) code.addImport(hooks, ["RateLimitProvider"]);
  if (clientFrom !== undefined) code.addImport(clientFrom, [client]);
  return clientFrom !== undefined || knows(code, client);
}

const parenthesized = (node: Node) => node.extra?.["parenthesized"] === true;

/**
 * Whether an element follows `return` or `=>` in the same line, such as `return <A>{children}</A>;`. Such
 * an element is put into parentheses.
 */
function followsKeyword({ text }: Code, element: Node): boolean {
  return /(?:\breturn|=>)[ \t]*$/.test(text.slice(0, startOf(element)));
}

function knows(code: Code, name: string): boolean {
  return (
    importedFrom(code, name) !== undefined ||
    findAll(code.program, "Identifier").some(({ node }) => node.name === name)
  );
}

export function providerLines(client = "trpcClient"): string {
  return `// Around the application, inside of QueryClientProvider:
<RateLimitProvider client={${client}}>{children}</RateLimitProvider>`;
}
