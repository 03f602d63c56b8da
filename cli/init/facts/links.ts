/** Finds the links of a client of tRPC in a file, and the client. */
import type { CallExpression, NewExpression, Node, ObjectExpression } from "@babel/types";
import type { Code } from "../code/code.js";
import {
  bare,
  callsOf,
  findAll,
  type Found,
  isFunction,
  nameOf,
  propertyOf,
} from "../code/syntax.js";

/** Links that send calls, and that cannot subscribe. */
const SENDING = [
  "httpBatchLink",
  "httpBatchStreamLink",
  "httpLink",
  "unstable_httpBatchStreamLink",
];
const SUBSCRIBING = ["httpSubscriptionLink", "unstable_httpSubscriptionLink", "wsLink"];
const CLIENTS = ["createTRPCClient", "createTRPCProxyClient", "createClient", "createTRPCNext"];

/** A list of links in the syntax of a file. */
export interface List {
  /** The element of the list that sends. */
  element: Node;
  /** The name of the link that is the element. */
  link: string;
  /** The settings of each link that sends. */
  settings: readonly ObjectExpression[];
  subscribes: boolean;
  /** The call that makes the client. */
  owner: Found<CallExpression | NewExpression> | undefined;
}

/** The list of the client that the hooks use, or else the first list. */
export function listIn(code: Code): List | undefined {
  const makers = callsOf(code.program, ...CLIENTS);
  const lists = findAll(code.program, "ArrayExpression").flatMap(({ node, around }): List[] => {
    const element = node.elements.find((each) => each && callsOf(each, ...SENDING).length > 0);
    if (!isListOfLinks(around.at(-1)) || !element || element.type === "SpreadElement") return [];
    const calls = callsOf(element, ...SENDING).map(({ node: call }) => call);
    const settings = calls.flatMap(({ arguments: [first] }) =>
      first?.type === "ObjectExpression" ? [first] : [],
    );
    if (settings.length === 0) return [];
    const link =
      (element.type === "CallExpression" && nameOf(element.callee)) || "the link that sends";
    const subscribes = callsOf(element, ...SUBSCRIBING).length > 0;
    const variable = around.findLast((each) => each.type === "VariableDeclarator")?.id;
    const owner =
      makers.findLast((maker) => around.includes(maker.node)) ??
      makers.find((maker) => usesName(maker.node, nameOf(variable)));
    return [{ element, link, settings, subscribes, owner }];
  });
  return lists.find((list) => isHooked(code, list)) ?? lists[0];
}

const usesName = (root: Node, name: string | undefined) =>
  findAll(root, "Identifier").some(({ node }) => node.name === name);

const isListOfLinks = (parent: Node | undefined) =>
  (parent?.type === "ObjectProperty" && nameOf(parent.key) === "links") ||
  (parent?.type === "VariableDeclarator" && /links$/i.test(nameOf(parent.id) ?? ""));

/** Whether hooks use the client: `api.createClient(…)`, or `<Provider client={trpcClient}>`. */
export function isHooked({ text }: Code, list: List): boolean {
  const maker = nameOf(list.owner?.node.callee);
  if (maker === "createClient" || maker === "createTRPCNext") return true;
  const name = clientOf(list)?.code;
  return (
    name !== undefined &&
    new RegExp(String.raw`\b(?:client|trpcClient)\s*[=:]\s*\{?\s*${name}\b`).test(text)
  );
}

export interface Client {
  /** The code of the client, such as `trpcClient`, or `api.useUtils().client` in a component. */
  code: string;
  /** The variable of the file that is the client. */
  variable: string | undefined;
}

/** The client with these links: `const trpcClient`, or `const [trpcClient] = useState(…)`. */
export function clientOf({ owner }: List): Client | undefined {
  const declarator = owner?.around.findLast((each) => each.type === "VariableDeclarator");
  if (owner === undefined || !declarator?.init) return undefined;
  const { id, init } = declarator;
  const name = nameOf(id.type === "ArrayPattern" ? id.elements[0] : id);
  if (name === undefined || !isMadeBy(bare(init), owner.node)) return undefined;
  // These hooks are no client. In a component, they give the client.
  if (nameOf(owner.node.callee) === "createTRPCNext") {
    return { code: `${name}.useUtils().client`, variable: undefined };
  }
  return { code: name, variable: owner.around.some(isFunction) ? undefined : name };
}

/** Whether a value is the call, or `useState(() => call)` and the like. */
function isMadeBy(value: Node, call: Node): boolean {
  if (value === call) return true;
  if (value.type !== "CallExpression" || !/^use[A-Z]/.test(nameOf(value.callee) ?? "")) {
    return false;
  }
  const [make] = value.arguments;
  return make === call || isFunction(make);
}

/** The links of a client. Texts are code of the file. */
export interface Links {
  file: string;
  /** The name of the element of the list that sends. */
  link: string;
  /** The element. */
  text: string;
  /** The properties of the link that sends which a link for subscriptions needs, too. */
  shared: readonly string[];
  subscribes: boolean;
}

export function linksOf(code: Code, list: List): Links {
  const [settings] = list.settings;
  const property = (name: string) => {
    const found = settings && propertyOf(settings, name);
    return found ? [code.textOf(found)] : [];
  };
  // EventSource sends cookies to another origin only with `withCredentials`.
  const isCredentialed = property("fetch").some((text) =>
    /credentials:\s*["']include["']/.test(text),
  );
  return {
    file: code.file,
    link: list.link,
    text: code.textOf(list.element),
    shared: [
      ...property("transformer"),
      ...property("url"),
      ...(isCredentialed ? ["eventSourceOptions: { withCredentials: true }"] : []),
    ],
    subscribes: list.subscribes,
  };
}
