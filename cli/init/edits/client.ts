/** The edits of the files of a web application: the links and the hooks. */
import type { Expression, ObjectExpression } from "@babel/types";
import { type Code, indented } from "../code/code.js";
import { importText } from "../code/imports.js";
import {
  callsOf,
  declaredIn,
  endOf,
  findAll,
  nameOf,
  propertyOf,
  rootOf,
  startOf,
} from "../code/syntax.js";

/** Links that send calls, and that cannot subscribe. */
const SENDING = [
  "httpBatchLink",
  "httpBatchStreamLink",
  "httpLink",
  "unstable_httpBatchStreamLink",
];
const SUBSCRIBING = ["httpSubscriptionLink", "unstable_httpSubscriptionLink", "wsLink"];
const TYPED = ["createTRPCClient", "createTRPCProxyClient", "createTRPCReact", "createTRPCContext"];

export interface Links {
  /** The element of the list that sends, and the settings in its call of a link. */
  element: Expression;
  sending: ObjectExpression;
  /** The name of the link that sends. */
  link: string;
  subscribes: boolean;
}

export function linksIn({ program }: Code): Links | undefined {
  for (const { node } of findAll(program, "ObjectProperty")) {
    if (nameOf(node.key) !== "links" || node.value.type !== "ArrayExpression") continue;
    for (const element of node.value.elements) {
      if (!element || element.type === "SpreadElement") continue;
      const [call] = callsOf(element, ...SENDING);
      const sending = call?.node.arguments[0];
      if (call === undefined || sending?.type !== "ObjectExpression") continue;
      const subscribes = callsOf(element, ...SUBSCRIBING).length > 0;
      return { element, sending, link: nameOf(call.node.callee)!, subscribes };
    }
  }
  return undefined;
}

/** The variable that holds the client with these links: `const trpcClient`, or `const [trpcClient]`. */
export function clientIn(code: Code): { name: string; isTopLevel: boolean } | undefined {
  const links = linksIn(code);
  if (links === undefined) return undefined;
  const around = findAll(code.program, "VariableDeclarator").filter(
    ({ node }) => startOf(node) < startOf(links.element) && endOf(node) > endOf(links.element),
  );
  const found = around.at(-1);
  const id = found?.node.id;
  const name = id?.type === "ArrayPattern" ? nameOf(id.elements[0]) : nameOf(id);
  if (found === undefined || name === undefined) return undefined;
  return { name, isTopLevel: found.around.length <= 3 };
}

/** The name of the router's type in the file. */
export function routerTypeIn({ program }: Code): string | undefined {
  for (const { node } of callsOf(program, ...TYPED)) {
    const type = node.typeParameters?.params[0];
    if (type?.type === "TSTypeReference") return nameOf(type.typeName);
  }
  return undefined;
}

const NAMES_THE_LIMIT = `// Names the limit of each mutation, such as "post.create": "createPost".`;

/**
 * Adds the link of the limits before the link that sends, and a link for subscriptions beside the link
 * that sends.
 *
 * @param polls whether the page has no `EventSource`, as in React Native.
 */
export function editLinks(code: Code, polls = false): boolean {
  const links = linksIn(code);
  const router = routerTypeIn(code);
  if (links === undefined || router === undefined) return false;
  const { element, sending, subscribes } = links;
  const start = startOf(element);
  const indent = code.indentAt(start);
  const first = `${NAMES_THE_LIMIT}\nrateLimitLink<${router}>({ limits: {} }),\n`;
  code.addImport("trpc-rate-limit/client", ["rateLimitLink"]);
  if (subscribes || polls) {
    code.insert(start, indented(code.styled(first), indent).trimStart() + indent);
    return true;
  }
  const url = propertyOf(sending, "url");
  if (url === undefined) return false;
  const transformer = propertyOf(sending, "transformer");
  const shared = [transformer, url].flatMap((each) => (each ? [code.textOf(each)] : []));
  // EventSource sends no headers. EventSource sends cookies to another origin only with
  // `withCredentials`.
  const fetch = propertyOf(sending, "fetch");
  if (fetch && /credentials:\s*["']include["']/.test(code.textOf(fetch))) {
    shared.push("eventSourceOptions: { withCredentials: true }");
  }
  const { unit } = code;
  const head = `${first}splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({
`;
  const text = code.shifted(start, endOf(element), unit);
  code.replace(
    start,
    endOf(element),
    indented(code.styled(head), indent).trimStart() +
      shared.map((property) => `${indent}${unit}${unit}${property},\n`).join("") +
      `${indent}${unit}}),\n${indent}${unit}false: ${text},\n${indent}})`,
  );
  code.addImport("@trpc/client", ["httpSubscriptionLink", "splitLink"]);
  return true;
}

/** Exports the client (`export const trpcClient`), for the provider in another file. */
export function exportClient(code: Code): boolean {
  const client = clientIn(code);
  const declared = declaredIn(code.program).find(({ name }) => name === client?.name);
  if (declared === undefined) return false;
  if (!declared.isExported) code.insert(startOf(declared.statement), "export ");
  return true;
}

/** The code of the hooks. React Native renders no HTML, so it gets `useCountdown`. */
const HOOKS = (
  router: string,
  polls = false,
) => `/** Hooks that know the limits of the server by name. */
export const {
  RateLimitProvider,
  ${polls ? "useCountdown" : "RateLimitCountdown"},
  useRateLimit,
  useRateLimitedMutation,
} = createRateLimitReact<${router}>();`;

export function editHooks(code: Code, polls = false): boolean {
  const router = routerTypeIn(code);
  if (router === undefined) return false;
  const made = declaredIn(code.program).find(
    ({ value }) =>
      value !== undefined && ["createTRPCReact", "createTRPCContext"].includes(rootOf(value) ?? ""),
  );
  const text = code.styled(HOOKS(router, polls));
  if (made === undefined) code.append(`${text}\n`);
  else code.insert(code.lineEnd(endOf(made.statement)), `\n\n${text}`);
  code.addImport("trpc-rate-limit/react", ["createRateLimitReact"]);
  return true;
}

/** The lines for an author of files with another form. */
export function clientLines(links: Links | undefined, router = "AppRouter"): string {
  const link = links?.link ?? "httpBatchLink";
  return `${importText("trpc-rate-limit/client", ["rateLimitLink"])}
${importText("trpc-rate-limit/react", ["createRateLimitReact"])}
${importText("@trpc/client", ["httpSubscriptionLink", "splitLink"])}

${HOOKS(router)}

// In the links, in place of ${link} (with the transformer and the URL that it has):
${NAMES_THE_LIMIT}
rateLimitLink<${router}>({ limits: {} }),
splitLink({
  condition: (op) => op.type === "subscription",
  true: httpSubscriptionLink({ transformer, url }),
  false: ${link}({ transformer, url }),
}),`;
}
