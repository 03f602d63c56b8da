/** Finds a route without tRPC that a button of the page calls, for the limit that `init` begins with. */
import type { JSXAttribute, JSXElement, Node } from "@babel/types";
import type { Code } from "../code/code.js";
import { importedFrom } from "../code/imports.js";
import {
  callsOf,
  declaredIn,
  findAll,
  type Found,
  type FunctionNode,
  functionIn,
  isFunction,
  nameOf,
  propertyOf,
} from "../code/syntax.js";
import { type FolderHost, type Host, routesIn } from "./host.js";
import { codesIn } from "./member.js";
import type { Page } from "./page.js";
import type { Project } from "./project.js";

/** A call of the server in a component. */
export interface Action {
  /** The file of the component. */
  component: string;
  /** What is called: a path such as `/api/posts`, or the name of a server function. */
  target: string;
  /** The file of the route. */
  route: string;
  /** Whether exactly one button calls it, so that the button can show the wait. */
  hasButton: boolean;
}

/** The calls of routes that are in the code of the application. */
export function actionsOf({ api }: Project, host: Host, { member }: Page): Action[] {
  const routes = codesIn(api, "app" in host ? /\.post\b/ : /\bPOST\b|\bcreateServerFn\b/);
  return codesIn(member, /\bmethod:\s*["']POST["']|\bonClick=|<form/).flatMap((code) =>
    /\.[jt]sx$/.test(code.file) && !/\.stories\./.test(code.file)
      ? sendsIn(code).flatMap(({ target, found }) => {
          const route = routeFileOf(routes, host, code, target);
          if (route === undefined) return [];
          const hasButton = buttonOf(code, found) !== undefined;
          return { component: code.file, target, route, hasButton };
        })
      : [],
  );
}

interface Send {
  target: string;
  found: Found;
}

/** `fetch("/api/posts", { method: "POST" })`, and calls of what may be a server function. */
function sendsIn(code: Code): Send[] {
  const fetches = callsOf(code.program, "fetch").flatMap((found): Send[] => {
    const [url, options] = found.node.arguments;
    const method = options?.type === "ObjectExpression" && propertyOf(options, "method");
    const isPost = method && method.type === "ObjectProperty" && nameOf(method.value) === "POST";
    const isLiteral = url?.type === "StringLiteral" && url.value.startsWith("/");
    return isPost && isLiteral ? [{ target: url.value, found }] : [];
  });
  const functions = findAll(code.program, "CallExpression").flatMap((found): Send[] => {
    const { callee } = found.node;
    if (callee.type !== "Identifier") return [];
    const isKnown =
      importedFrom(code, callee.name) !== undefined ||
      declaredIn(code.program).some(({ name }) => name === callee.name);
    return isKnown ? [{ target: callee.name, found }] : [];
  });
  return [...fetches, ...functions];
}

function routeFileOf(
  routes: readonly Code[],
  host: Host,
  code: Code,
  target: string,
): string | undefined {
  const has = (each: Code) => routeIn(each, host, target) !== undefined;
  if (!target.startsWith("/")) {
    if (host.kind !== "start") return undefined;
    const from = importedFrom(code, target)
      ?.split("/")
      .at(-1)
      ?.replace(/\.\w+$/, "");
    const isNamed = ({ file }: Code) =>
      from === undefined ? file === code.file : file.split("/").at(-1)!.startsWith(`${from}.`);
    return routes.find((each) => isNamed(each) && has(each))?.file;
  }
  return routes.find((each) => (!("app" in host) || each.file === host.file) && has(each))?.file;
}

/** The part of a route that answers: its function, or the call that adds the route. */
export function routeIn(
  code: Code,
  host: Host,
  target: string,
): { call: ReturnType<typeof routesIn>[number] } | { fn: FunctionNode } | undefined {
  if ("app" in host) {
    const [call, ...others] = routesIn(code, host.app, "post").filter(
      ({ node: { arguments: given } }) =>
        given.length > 1 && host.base + nameOf(given[0]) === target,
    );
    return call && others.length === 0 ? { call } : undefined;
  }
  const fn = functionOf(code, host, target);
  return fn?.body.type === "BlockStatement" && fn.async ? { fn } : undefined;
}

function functionOf(code: Code, host: FolderHost, target: string): FunctionNode | undefined {
  const { file, program } = code;
  const declared = (name: string) => declaredIn(program).find((each) => each.name === name)?.value;
  if (!target.startsWith("/")) {
    const value = declared(target);
    const [made] = value ? callsOf(value, "createServerFn") : [];
    const [options] = made?.node.arguments ?? [];
    const [handler] = value ? callsOf(value, "handler") : [];
    const isPost = options?.type === "ObjectExpression" && /\bPOST\b/.test(code.textOf(options));
    const given = isPost ? handler?.node.arguments[0] : undefined;
    return isFunction(given) ? given : undefined;
  }
  if (host.kind === "next") {
    const isRoute = file.replace(/\/route\.[jt]sx?$/, "") === host.folder + target;
    const value = isRoute ? declared("POST") : undefined;
    return value && functionIn(value);
  }
  const [route] = callsOf(program, "createFileRoute");
  if (nameOf(route?.node.arguments[0]) !== target) return undefined;
  const posts = findAll(program, "ObjectProperty", "ObjectMethod").filter(
    ({ node }) => nameOf(node.key) === "POST",
  );
  const [post] = posts;
  if (post === undefined || posts.length > 1) return undefined;
  return post.node.type === "ObjectMethod" ? post.node : functionIn(post.node.value);
}

/** The button that makes a call: by its own `onClick`, or as the only one of a form that does. */
export function buttonOf(code: Code, call: Found): JSXElement | undefined {
  const handlers = findAll(code.program, "JSXAttribute").filter(({ node }) =>
    HANDLERS.test(nameOf(node.name) ?? ""),
  );
  const own = handlers.filter(({ node }) => call.around.includes(node));
  // Else, the innermost function or hook around the call that a handler names.
  const using = call.around.toReversed().map((each) => handlers.filter(uses(namesOf(each))));
  const [attribute, ...others] = own.length > 0 ? own : (using.find(({ length }) => length) ?? []);
  const element = attribute?.around.findLast((each) => each.type === "JSXElement");
  if (element === undefined || others.length > 0) return undefined;
  if (isButton(element)) return element;
  if (tagOf(element) !== "form") return undefined;
  const buttons = findAll(element, "JSXElement").flatMap(({ node }) =>
    isButton(node) && !/\btype=["']?(?:button|reset)/.test(code.textOf(node.openingElement))
      ? node
      : [],
  );
  return buttons.length === 1 ? buttons[0] : undefined;
}

const HANDLERS = /^(?:onClick|onSubmit|action)$/;
/** Not one with a name: the name of the button becomes that of the limit. */
const isButton = (element: JSXElement) =>
  tagOf(element) === "button" &&
  element.openingElement.attributes.every(
    (each) => each.type === "JSXAttribute" && each.name.name !== "name",
  );
const tagOf = ({ openingElement }: JSXElement) => nameOf(openingElement.name);

/** The names that a declaration declares. */
function namesOf(declaration: Node): string[] {
  if (declaration.type === "FunctionDeclaration") return [declaration.id?.name ?? ""];
  if (declaration.type !== "VariableDeclarator") return [];
  return findAll(declaration.id, "Identifier").map(({ node }) => node.name);
}

const uses =
  (names: readonly string[]) =>
  ({ node }: Found<JSXAttribute>): boolean =>
    findAll(node, "Identifier").some(({ node: { name } }) => names.includes(name));

/** The call in a file that an action was made of. */
export function sendOf(code: Code, target: string): Found | undefined {
  const sends = sendsIn(code).filter((each) => each.target === target);
  return sends.length === 1 ? sends[0]!.found : undefined;
}
