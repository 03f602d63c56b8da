/** The edit of the file of a page that provides its components with the limits. */
import type { Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importText, WIDTH } from "../code/imports.js";
import { endOf, startOf } from "../code/syntax.js";
import { inFolder } from "../facts/member.js";
import { specifierInside } from "../facts/specifiers.js";
import { providerIn, type Web } from "../facts/web.js";

const CLOSE = "</RateLimitProvider>";

const openTag = ({ live }: Pick<Web, "live">, client: string) =>
  `<RateLimitProvider client={${client}}${live.mode === "poll" ? ' live="poll"' : ""}>`;

/** The client in the file of the provider: what the provider of tRPC gets, or the variable. */
const clientIn = ({ provider, client }: Web) => provider?.client ?? client?.code;

/** Whether the file of the provider has to import the client. */
export const importsClient = ({ provider, client, links }: Web): boolean =>
  provider?.client === undefined &&
  client?.variable !== undefined &&
  provider?.file !== links?.file;

/** The names that the file of the provider imports, by their modules. */
function importsOf(web: Web, file: string): Map<string, string[]> {
  const { member, hooks, links, client } = web;
  const imports = new Map<string, string[]>();
  const add = (other: string | undefined, name: string) => {
    if (other === undefined || other === file) return;
    const from = specifierInside(member, file, other);
    imports.set(from, [...(imports.get(from) ?? []), name]);
  };
  add(hooks, "RateLimitProvider");
  if (importsClient(web)) add(links?.file, client!.variable!);
  else if (isHook(web)) add(links?.file, client!.code.split(".")[0]!);
  return imports;
}

/** Whether only a component has the client: `api.useUtils().client`. */
const isHook = (web: Web) => clientIn(web)?.includes("()") === true;

/** Puts the children of this provider into the provider of the limits. */
export function editProvider(code: Code, web: Web): boolean {
  const element = providerIn(code)?.element;
  const closing = element?.closingElement;
  const client = clientIn(web);
  if (element === undefined || !closing || client === undefined) return false;
  const isInScope =
    web.provider?.client !== undefined ||
    importsClient(web) ||
    (code.file === web.links?.file && /^\w+$/.test(client));
  if (!isInScope) return false;
  const [start, end] = [endOf(element.openingElement), startOf(closing)];
  const { unit } = code;
  const indent = code.indentAt(startOf(element));
  const isOneLine = !code.textOf(element).includes("\n");
  const isBare = isOneLine && !parenthesized(element) && followsKeyword(code, element);
  const outer = isBare ? indent + unit : isOneLine ? indent : code.indentAt(endOf(element));
  const inner = outer + unit;
  const open = openTag(web, client);
  const child = code.shifted(start, end, unit).trim();
  const line = `${inner}${open}${child}${CLOSE}`;
  const isShort = !child.includes("\n") && line.length <= WIDTH;
  const body = isShort ? line : `${inner}${open}\n${inner}${unit}${child}\n${inner}${CLOSE}`;
  code.replace(start, end, `\n${body}\n${outer}`);
  if (isBare) {
    code.insert(startOf(element), `(\n${indent}${unit}`);
    code.insert(endOf(element), `\n${indent})`);
  }
  for (const [from, names] of importsOf(web, code.file)) code.addImport(from, names);
  return true;
}

const parenthesized = (node: Node) => node.extra?.["parenthesized"] === true;

/**
 * Whether an element follows `return` or `=>` in the same line, such as `return <A>{children}</A>;`. Such
 * an element is put into parentheses.
 */
function followsKeyword({ text }: Code, element: Node): boolean {
  return /(?:\breturn|=>)[ \t]*$/.test(text.slice(0, startOf(element)));
}

/** The lines for an author of a file with another form. */
export function providerLines(web: Web): string {
  const client = clientIn(web) ?? "trpcClient";
  const imports = importsOf(web, web.provider?.file ?? inFolder(web.member, "src/page.tsx"));
  return [
    ...[...imports].map(([from, names]) => importText(from, names)),
    ...(imports.size > 0 ? [""] : []),
    ...(isHook(web)
      ? ["// In a component below withTRPC:", `const trpcClient = ${client};`, ""]
      : []),
    `// Around the application${isHook(web) ? "" : ", inside of QueryClientProvider"}:`,
    `${openTag(web, isHook(web) ? "trpcClient" : client)}{children}${CLOSE}`,
  ].join("\n");
}
