/** The edits of the files of a web application: the links, the hooks, and their provider. */
import { indented, indentUnit } from "../anchors.js";
import { appended, codeOf, matchesInCode } from "../code.js";
import { importText } from "../import-text.js";
import { CLIENT_IMPORTS, HOOKS } from "../t3-edits.js";
import { withImport } from "./imports.js";
import { bracketed, closing, indentAt, propertiesOf, replaced } from "./places.js";
import { styled } from "./server-edits.js";

/** Links that send, and that cannot subscribe. */
export const SENDING = /\b(?:unstable_)?http(?:Batch|BatchStream)?Link\(/g;

/** The link that sends gets those of the limits before it, and one for subscriptions beside it. */
export function editLinks(text: string): string | undefined {
  if (/\bsplitLink\b/.test(codeOf(text))) return undefined;
  const sending = bracketed(text, SENDING);
  if (sending === undefined || !/^\s*\{/.test(text.slice(sending.open + 1))) return undefined;
  if (!codeOf(text).includes("links: [")) return undefined;
  const unit = indentUnit(text);
  const indent = indentAt(text, sending.start);
  const call = text.slice(sending.start, sending.end);
  const properties = propertiesOf(text, text.indexOf("{", sending.open));
  const url = properties.get("url");
  if (url === undefined) return undefined;
  const shared = [properties.get("transformer"), url].filter((each) => each !== undefined);
  // EventSource has no headers. It sends cookies to another origin only if it is told to.
  if (/credentials:\s*["']include["']/.test(properties.get("fetch") ?? "")) {
    shared.push("eventSourceOptions: { withCredentials: true }");
  }
  const lines = styled(
    text,
    `// Names the limit of each mutation, such as "post.create": "createPost".
rateLimitLink<AppRouter>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({
`,
  );
  const links =
    indented(lines, indent).trimStart() +
    shared.map((property) => `${indent}${unit}${unit}${property},\n`).join("") +
    `${indent}${unit}}),\n${indent}${unit}false: ${call.replaceAll("\n", `\n${unit}`)},\n${indent}})`;
  const edited = replaced(text, sending, links);
  return withImport(
    withImport(edited, "@trpc/client", ["httpSubscriptionLink", "splitLink"]),
    "trpc-rate-limit/client",
    ["rateLimitLink"],
  );
}

/** `export const trpcClient`, for the provider in another file. */
export function exportClient(text: string): string | undefined {
  const [found] = matchesInCode(text, /^(export )?const trpcClient\b/gm);
  if (found === undefined) return undefined;
  return found[1] ? text : `${text.slice(0, found.index)}export ${text.slice(found.index)}`;
}

export function editHooks(text: string): string | undefined {
  if (!/\bAppRouter\b/.test(codeOf(text))) return undefined;
  const edited = appended(text, `${styled(text, HOOKS)}\n`);
  return withImport(edited, "trpc-rate-limit/react", ["createRateLimitReact"]);
}

export interface ProviderImports {
  /** How the file imports the hooks; `undefined` if it has them. */
  hooks: string | undefined;
  /** How it imports the client; `undefined` if it has it. */
  client: string | undefined;
}

export const PROVIDERS = ["TRPCProvider", "QueryClientProvider"];

/** What is inside of the provider of queries is put into ours. */
export function editProvider(text: string, { hooks, client }: ProviderImports): string | undefined {
  const name = PROVIDERS.find((each) => text.includes(`<${each}`));
  if (name === undefined) return undefined;
  const opens = matchesInCode(text, new RegExp(String.raw`<${name}(?=[\s>])`, "g"));
  const close = text.indexOf(`</${name}>`);
  if (opens.length !== 1 || close === -1) return undefined;
  const start = endOfTag(text, opens[0]!.index + opens[0]![0].length);
  if (start === undefined || start > close) return undefined;
  const inside = text.slice(start, close);
  const unit = indentUnit(text);
  const [open, end] = ["<RateLimitProvider client={trpcClient}>", "</RateLimitProvider>"];
  const indent = indentAt(text, start);
  const inner = indent + unit;
  // A child that has one line stays on the line of its parent.
  const isOne = !inside.trim().includes("\n");
  const content = isOne
    ? inside.trim()
    : `\n${indented(inside.replace(/^\n|\n[ \t]*$/g, ""), unit)}\n${inner}`;
  const outer = inside.includes("\n") ? indentAt(text, close) : indent;
  const body = `\n${inner}${open}${content}${end}\n${outer}`;
  let edited = replaced(text, { start, end: close }, body);
  edited = parenthesised(edited, opens[0]!.index, name);
  if (client === undefined && !/\btrpcClient\b/.test(codeOf(text))) return undefined;
  if (hooks !== undefined) edited = withImport(edited, hooks, ["RateLimitProvider"]);
  if (client !== undefined) edited = withImport(edited, client, ["trpcClient"]);
  return edited;
}

/** A statement that had one line, such as `return <A>{children}</A>;`, gets those of a block. */
function parenthesised(text: string, start: number, name: string): string {
  const before = /(return|=>)[ \t]*$/.exec(text.slice(0, start));
  if (before === null) return text;
  const closed = `</${name}>`;
  const end = text.indexOf(closed, start) + closed.length;
  const indent = indentAt(text, start);
  const unit = indentUnit(text);
  const element = text.slice(start, end).replaceAll("\n", `\n${unit}`);
  return `${text.slice(0, start)}(\n${indent}${unit}${element}\n${indent})${text.slice(end)}`;
}

function endOfTag(text: string, from: number): number | undefined {
  let at = from;
  while (at < text.length) {
    if (text[at] === ">") return text[at - 1] === "/" ? undefined : at + 1;
    at = text[at] === "{" ? (closing(text, at) ?? text.length) : at + 1;
  }
  return undefined;
}

/** What an author adds, who has written the files in another way. */
export const CLIENT_LINES = `${CLIENT_IMPORTS.join("\n")}
${importText("@trpc/client", ["httpSubscriptionLink", "splitLink"])}

${HOOKS}

// In the links, in place of the link that sends (with the transformer and the URL that it has):
// Names the limit of each mutation, such as "post.create": "createPost".
rateLimitLink<AppRouter>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({ transformer, url }),
  false: httpBatchLink({ transformer, url }),
}),`;

export const PROVIDER_LINES = `// Around the application, inside of QueryClientProvider:
<RateLimitProvider client={trpcClient}>{children}</RateLimitProvider>`;
