/** The edits of the files of a web application: the links and the hooks. */
import { dirname, join, relative } from "node:path/posix";
import { type Code, indented } from "../code/code.js";
import { importedFrom, importText } from "../code/imports.js";
import { declaredIn, endOf, rootOf, startOf } from "../code/syntax.js";
import { listIn } from "../facts/links.js";
import { inFolder, sourceWith } from "../facts/member.js";
import { specifierInside } from "../facts/specifiers.js";
import type { RouterType, Web } from "../facts/web.js";

/** @param mutation the path of a mutation of the application, for the comment. */
const linkText = (router: string, mutation: string) =>
  `// Names the limit of each mutation, such as "${mutation}": "createPost".
rateLimitLink<${router}>({ limits: {} }),\n`;

/** Whether the client needs a link for subscriptions beside the link that sends. */
const splits = ({ live, links }: Web) => live.mode === "stream" && links?.subscribes !== true;

/**
 * Adds the link of the limits before the link that sends, and a link for subscriptions beside the link
 * that sends.
 */
export function editLinks(code: Code, web: Web): boolean {
  const element = listIn(code)?.element;
  const { links, router } = web;
  if (element === undefined || links === undefined || router === undefined) return false;
  const start = startOf(element);
  const indent = code.indentAt(start);
  const first = linkText(router.name, web.mutation);
  importRouter(code, router);
  code.addImport("trpc-rate-limit/client", ["rateLimitLink"]);
  if (!splits(web)) {
    code.insert(start, indented(code.styled(first), indent).trimStart() + indent);
    return true;
  }
  const { unit } = code;
  const [head] = (first + splitText([], "")).split("  }),");
  const text = code.shifted(start, endOf(element), unit);
  code.replace(
    start,
    endOf(element),
    indented(code.styled(head!), indent).trimStart() +
      links.shared.map((property) => `${indent}${unit}${unit}${property},\n`).join("") +
      `${indent}${unit}}),\n${indent}${unit}false: ${text},\n${indent}})`,
  );
  code.addImport("@trpc/client", ["httpSubscriptionLink", "splitLink"]);
  return true;
}

/** Imports the type of the router, unless the file has it. */
function importRouter(code: Code, router: RouterType): void {
  const from = routerFrom(code.file, router);
  const isThere =
    importedFrom(code, router.name) !== undefined ||
    declaredIn(code.program).some(({ name }) => name === router.name);
  if (!isThere && from !== undefined) code.addImport(from, [`type ${router.name}`]);
}

/** The module from which a file of the web application imports the type of the router. */
function routerFrom(file: string, { file: importing, from }: RouterType): string | undefined {
  if (from === undefined || !from.startsWith(".")) return from;
  const path = relative(dirname(file), join(dirname(importing), from));
  return path.startsWith(".") ? path : `./${path}`;
}

/** Exports the client (`export const trpcClient`), for the provider in another file. */
export function exportClient(code: Code, { client }: Web): boolean {
  const declared = declaredIn(code.program).find(({ name }) => name === client?.variable);
  if (declared === undefined) return false;
  if (!declared.isExported) code.insert(startOf(declared.statement), "export ");
  return true;
}

/** The code of the hooks. React Native renders no HTML, so it gets `useCountdown`. */
const hooksText = ({
  isNative,
  router,
}: Pick<Web, "isNative" | "router">) => `/** Hooks that know the limits of the server by name. */
export const {
  RateLimitProvider,
  ${isNative ? "useCountdown" : "RateLimitCountdown"},
  useRateLimit,
  useRateLimitedMutation,
} = createRateLimitReact<${router?.name ?? "AppRouter"}>();`;

export function editHooks(code: Code, web: Web): boolean {
  if (web.router === undefined) return false;
  const made = declaredIn(code.program).find(
    ({ value }) =>
      value !== undefined && ["createTRPCReact", "createTRPCContext"].includes(rootOf(value) ?? ""),
  );
  const text = code.styled(hooksText(web));
  if (made === undefined) code.append(`${text}\n`);
  else code.insert(code.lineEnd(endOf(made.statement)), `\n\n${text}`);
  importRouter(code, web.router);
  code.addImport("trpc-rate-limit/react", ["createRateLimitReact"]);
  return true;
}

export const hooksLines = (web: Pick<Web, "isNative" | "router">): string =>
  `${importText("trpc-rate-limit/react", ["createRateLimitReact"])}\n\n${hooksText(web)}`;

/** The lines for an author of a file with another form: the list, with the file's own settings. */
export function linksLines(web: Web): string {
  const { links, router } = web;
  if (links === undefined) return newClientLines(web);
  const packages = importText("trpc-rate-limit/client", ["rateLimitLink"]);
  const first = linkText(router?.name ?? "AppRouter", web.mutation);
  if (!splits(web)) return `${packages}\n\n// In the links, before ${links.link}:\n${first}`;
  // The last line has the indentation of the first.
  const [, indent = ""] = /\n([ \t]*)[^\n]*$/.exec(links.text) ?? [];
  const sends = links.text.replaceAll(`\n${indent}`, "\n");
  return `${importText("@trpc/client", ["httpSubscriptionLink", "splitLink"])}
${packages}

// In the links, in place of ${links.link}:
${first}${splitText(links.shared, sends)}`;
}

const splitText = (shared: readonly string[], sends: string) => `splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({
${shared.map((each) => `    ${each},\n`).join("")}  }),
  false: ${indented(sends, "  ").trimStart()},
}),`;

/** A whole client, where no list of links was found. */
function newClientLines({ member, isNative, router, mutation }: Web): string {
  const name = router?.name ?? "AppRouter";
  const own = sourceWith(member, /\bexport type AppRouter\b/);
  const from = own && specifierInside(member, inFolder(member, "src/client.ts"), own);
  const url = `url: "/api/trpc"`;
  const sends = `httpBatchLink({ ${url} })`;
  const more = isNative ? [] : ["httpSubscriptionLink", "splitLink"];
  const links = linkText(name, mutation) + (isNative ? `${sends},` : splitText([url], sends));
  return `${importText("@trpc/client", ["createTRPCClient", "httpBatchLink", ...more])}
${importText("trpc-rate-limit/client", ["rateLimitLink"])}
${from === undefined ? "" : `import type { ${name} } from "${from}";\n`}
// With your URL, and in each link that has it with the transformer of initTRPC, if there is one:
export const trpcClient = createTRPCClient<${name}>({
  links: [
${indented(links, "    ")}
  ],
});`;
}
