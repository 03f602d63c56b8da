/** The page in React of an application without tRPC: where its provider goes, and where its hooks. */
import type { CallExpression, JSXElement, JSXExpressionContainer } from "@babel/types";
import { dirname } from "node:path/posix";
import type { Code } from "../code/code.js";
import { findAll, nameOf } from "../code/syntax.js";
import { readText } from "../files/files.js";
import type { Host } from "./host.js";
import { codesIn, inFolder, type Member, sourceWith } from "./member.js";
import type { Project } from "./project.js";
import { isNative } from "./web.js";

export interface Page {
  member: Member;
  /** The file that has the hooks of this package already. */
  present: string | undefined;
  /** The file of the provider. `undefined` where it has no known place. */
  root: string | undefined;
  /** Whether the URL of the limits, without an origin, leads from the page to the server. */
  isSameOrigin: boolean;
  /** Whether the type of the limiter can be imported, so that the hooks know the names of the limits. */
  isTyped: boolean;
}

/** The page that is served beside an API, or by it; the first, without an origin, where there are several. */
export async function pageOf(project: Project, host: Host | undefined): Promise<Page | undefined> {
  const { api, members } = project;
  const isPage = (member: Member) => member.packages.has("react") && !isNative(member);
  const others = members.filter((each) => each !== api && isPage(each) && isBrowser(each));
  const isOne = isPage(api) || others.length === 1;
  const member = isPage(api) ? api : others[0];
  if (member === undefined) return undefined;
  const roots = codesIn(member, ROOT_HINT).filter((code) => placeOfProvider(code) !== undefined);
  const tsconfig = (await readText(project.root, inFolder(member, "tsconfig.json"))) ?? "";
  return {
    member,
    present: sourceWith(member, /\bcreateRateLimitReact\b/),
    root: roots.length === 1 ? roots[0]!.file : undefined,
    isSameOrigin: isOne && host !== undefined && (await isSameOrigin(project, host, member)),
    // A part of an application has types of its own, such as those of browsers and none of Node.js.
    isTyped: member === api && api.extension === "ts" && !/"references"/.test(tsconfig),
  };
}

const isBrowser = ({ packages }: Member) => packages.has("react-dom");

/** Code by which a server sends the page itself. */
const SERVES_PAGE =
  /\bserveStatic\s*\(|\bexpress\.static\s*\(|\bsirv\s*\(|\bcreateRequestHandler\s*\(|\.middlewares\b|\bViteExpress\b/;

async function isSameOrigin({ root, api }: Project, host: Host, page: Member): Promise<boolean> {
  if (host.kind === "next" || host.kind === "start") return page === api;
  for (const ending of ["ts", "mts", "js", "mjs"]) {
    const config = await readText(root, inFolder(page, `vite.config.${ending}`));
    if (config === undefined || !/\bproxy\s*:/.test(config)) continue;
    const [, proxy = ""] = /\bproxy\s*:\s*\{([\s\S]*)/.exec(config) ?? [];
    const paths = [...proxy.matchAll(/["'`]\^?(\/[\w/-]*)[^"'`]*["'`]\s*:/g)].map(
      ([, path]) => path!,
    );
    // With `rewrite`, the server sees another path.
    return !/\brewrite\b/.test(proxy) && paths.some((path) => host.url.startsWith(path));
  }
  return page === api && sourceWith(api, SERVES_PAGE) !== undefined;
}

const ROOT_HINT = /<html|<Outlet|\.render\(|\bhydrateRoot\(/;

/** The part of the page that goes into the provider. */
export type Provided = JSXElement | JSXExpressionContainer;

export function placeOfProvider({ file, text, program }: Code): Provided | undefined {
  if (isRootOfRoutes(file) || text.includes("<html")) {
    const outlets = findAll(program, "JSXElement").filter(
      ({ node }) => nameOf(node.openingElement.name) === "Outlet",
    );
    if (outlets.length === 1) return outlets[0]!.node;
    const children = findAll(program, "JSXExpressionContainer").filter(
      ({ node, around }) =>
        nameOf(node.expression) === "children" &&
        around.some((each) => each.type === "JSXElement" && isBody(each)),
    );
    return outlets.length === 0 && children.length === 1 ? children[0]!.node : undefined;
  }
  const calls = findAll(program, "CallExpression").flatMap(({ node }) => rendered(node) ?? []);
  const [element] = calls;
  if (calls.length !== 1 || element === undefined) return undefined;
  if (nameOf(element.openingElement.name) !== "StrictMode") return element;
  const inner = element.children.filter((each) => each.type === "JSXElement");
  return inner.length === 1 ? inner[0] : element;
}

/** The root of the routes of React Router, and of TanStack Router. */
const isRootOfRoutes = (file: string) => /(^|\/)(app\/root|routes\/__root)\.[jt]sx$/.test(file);

const isBody = ({ openingElement }: JSXElement) => nameOf(openingElement.name) === "body";

/** The element of `createRoot(…).render(<App />)`, or of `hydrateRoot(…, <App />)`. */
function rendered({ callee, arguments: given }: CallExpression): JSXElement | undefined {
  const name = nameOf(callee);
  const value = name === "render" ? given[0] : name === "hydrateRoot" ? given[1] : undefined;
  return value?.type === "JSXElement" ? value : undefined;
}

/** The folder of the hooks: that of components. A file in a folder of routes would be a route. */
export function hooksFolderOf({ member, root }: Page, component: string | undefined): string {
  const folders = [...member.sources.keys()].map((file) => dirname(file));
  const usual = folders.find((folder) => /(^|\/)components$/.test(folder));
  const folder = component === undefined ? (usual ?? dirname(root ?? "")) : dirname(component);
  return folder.replace(/(^|\/)routes(\/.*)?$/, "") || ".";
}
