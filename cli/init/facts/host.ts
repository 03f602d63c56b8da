/** The server of an application without tRPC: what serves its routes, and where the limits get theirs. */
import type { Node, Statement } from "@babel/types";
import type { Code } from "../code/code.js";
import { bare, findAll, type Found, nameOf, type NodeOf, rootOf } from "../code/syntax.js";
import { readText } from "../files/files.js";
import { findInCode, inFolder, insideOf, type Member } from "./member.js";
import type { Project } from "./project.js";

/** The path of the limits, unless the application has a path before all of its routes. */
const URL_OF_LIMITS = "/api/limits";

/** A framework whose folders are its routes. */
export interface FolderHost {
  kind: "next" | "start";
  /** The folder of the routes. */
  folder: string;
  /** The file of the route to make. */
  file: string;
  /** The URL of the limits, without an origin. */
  url: string;
}

/** A framework whose application is a variable. */
export interface AppHost {
  kind: "express" | "hono";
  /** The file that makes the application. */
  file: string;
  /** The variable. */
  app: string;
  /** The path that comes before the paths of all routes; `""` for none. */
  base: string;
  /** The URL of the limits, without an origin. */
  url: string;
}

export type Host = AppHost | FolderHost;

export async function hostOf({ root, api }: Project): Promise<Host | undefined> {
  if (api.packages.has("next")) return nextOf(root, api);
  if (api.packages.has("@tanstack/react-start")) return startOfTanStack(api);
  // In CommonJS, nothing of this package can be imported by `require` in all versions of Node.js.
  if (api.extension === "mjs") return undefined;
  return appHostIn(api, "hono") ?? appHostIn(api, "express");
}

/** Settings by which the routes of Next have another URL, or do not exist. */
const OTHER_URL = /\bbasePath\b|\boutput\s*:\s*["']export["']/;

async function nextOf(root: string, api: Member): Promise<FolderHost | undefined> {
  const folder = ["src/app", "app"].find((each) =>
    [...api.sources.keys()].some((file) => insideOf(api, file).startsWith(`${each}/`)),
  );
  if (folder === undefined) return undefined;
  for (const ending of ["ts", "mjs", "js"]) {
    const config = await readText(root, inFolder(api, `next.config.${ending}`));
    if (config !== undefined && OTHER_URL.test(config)) return undefined;
  }
  const own = inFolder(api, folder);
  const file = `${own}/api/limits/route.${api.extension === "ts" ? "ts" : "js"}`;
  return { kind: "next", folder: own, file, url: URL_OF_LIMITS };
}

function startOfTanStack(api: Member): FolderHost | undefined {
  const folder = inFolder(api, "src/routes");
  if (!api.sources.has(`${folder}/__root.tsx`)) return undefined;
  return { kind: "start", folder, file: `${folder}/api/limits.ts`, url: URL_OF_LIMITS };
}

const MAKERS = { express: /\bexpress\s*\(/, hono: /\bnew Hono\b/ };
const ROOTS = { express: "express", hono: "Hono" };
/** Code of the file that starts the server. */
const STARTS = /\.listen\(|\bserve\(|\bexport default\b|\bhandle\(/;

function appHostIn(api: Member, kind: AppHost["kind"]): AppHost | undefined {
  if (!api.packages.has(kind)) return undefined;
  const found = [...api.sources.keys()].flatMap((file) => {
    const one = { ...api, sources: new Map([[file, api.sources.get(file)!]]) };
    const made = findInCode(one, MAKERS[kind], (code) => variablesIn(code, kind));
    return made?.found.map((app) => ({ ...app, file, isMain: STARTS.test(made.code.text) })) ?? [];
  });
  const main = found.length > 1 ? found.filter(({ isMain }) => isMain) : found;
  const [only] = main;
  if (only === undefined || main.length > 1) return undefined;
  const { file, app, base } = only;
  return { kind, file, app, base, url: base === "" ? URL_OF_LIMITS : `${base}/limits` };
}

function variablesIn(code: Code, kind: AppHost["kind"]): { app: string; base: string }[] {
  return findAll(code.program, "VariableDeclarator").flatMap(({ node: { id, init } }) => {
    const app = nameOf(id);
    if (app === undefined || !init || rootOf(bare(init)) !== ROOTS[kind]) return [];
    // `express.Router()` and `express.json()` are no applications.
    if (kind === "express" && /\bexpress\s*\./.test(code.textOf(init))) return [];
    const base = /\.basePath\(\s*["'](\/[\w/-]*)["']\s*\)/.exec(code.textOf(init))?.[1] ?? "";
    return [{ app, base }];
  });
}

const ROUTES = new Set(["all", "delete", "get", "on", "patch", "post", "put", "route"]);

/** A call such as `app.post("/posts", …)`. */
export type RouteCall = Found<NodeOf<"CallExpression">>;

/** The calls that add routes to the application, in the order of the text. */
export function routesIn(code: Code, app: string, method?: string): RouteCall[] {
  return findAll(code.program, "CallExpression").filter(({ node: { callee }, around }) => {
    if (callee.type !== "MemberExpression") return false;
    const name = nameOf(callee.property) ?? "";
    const isOfApp =
      rootOf(callee.object) === app ||
      // `const app = new Hono().post(…)`
      around.some((each) => each.type === "VariableDeclarator" && nameOf(each.id) === app);
    return isOfApp && (method === undefined ? ROUTES.has(name) : name === method);
  });
}

/** The statement before which the route of the limits goes, or else the one after which it goes. */
export function placeOfRoute(
  { program, text }: Code,
  app: string,
): { before: Node } | { after: Node } | undefined {
  const maker = findAll(program, "VariableDeclarator").find(
    ({ node: { id, init } }) => nameOf(id) === app && init,
  );
  const around = maker?.around ?? [];
  const depth = around.findLastIndex(({ type }) => type === "Program" || type === "BlockStatement");
  const block = around[depth];
  if (block?.type !== "Program" && block?.type !== "BlockStatement") return undefined;
  const at = block.body.findIndex((each) => each === around[depth + 1]);
  const first = block.body.slice(at + 1).find((each) => isRoute(each, app));
  if (first !== undefined) return { before: first };
  // A route that takes all paths would come first.
  return /["'`][^"'`\n]*\*["'`]/.test(text) ? undefined : { after: block.body[at]! };
}

function isRoute(statement: Statement, app: string): boolean {
  if (statement.type !== "ExpressionStatement") return false;
  const { expression } = statement;
  if (expression.type !== "CallExpression" || rootOf(expression) !== app) return false;
  const [path] = expression.arguments;
  return ROUTES.has(nameOf(expression.callee) ?? "") && path?.type === "StringLiteral";
}
