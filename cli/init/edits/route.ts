/** The edits of routes without tRPC: the route of the limits, and the limit of a route. */
import type { Code } from "../code/code.js";
import { importText } from "../code/imports.js";
import { endOf, type FunctionNode, nameOf, startOf } from "../code/syntax.js";
import { routeIn } from "../facts/action.js";
import { type AppHost, type FolderHost, type Host, placeOfRoute } from "../facts/host.js";

/** The limit that `init` writes into `limits.ts`. */
export const LIMIT = `"createPost"`;

/** @param from the module with the handler. */
export function routeFileText({ kind, url }: FolderHost, from: string): string {
  const handler = importText(from, ["limitsHandler"]);
  if (kind === "next") {
    return `${handler}\n\nexport { limitsHandler as GET, limitsHandler as POST };\n`;
  }
  return `${importText("@tanstack/react-router", ["createFileRoute"])}
${handler}

export const Route = createFileRoute("${url}")({
  server: {
    handlers: {
      GET: ({ request }) => limitsHandler(request),
      POST: ({ request }) => limitsHandler(request),
    },
  },
});
`;
}

export const mountText = ({ app, base, url }: AppHost): string =>
  `${app}.all("${url.slice(base.length)}", limitsHandler);`;

/** Adds the route of the limits beside the other routes. */
export function editMount(code: Code, host: AppHost, from: string): boolean {
  const place = placeOfRoute(code, host.app);
  if (place === undefined) return false;
  const line = code.styled(mountText(host));
  if ("after" in place) {
    const at = endOf(place.after);
    code.insert(at, `\n${code.indentAt(startOf(place.after))}${line}`);
  } else {
    const [comment] = place.before.leadingComments ?? [];
    const at = comment?.start ?? startOf(place.before);
    code.insert(at, `${line}\n${code.indentAt(at)}`);
  }
  code.addImport(from, ["limitsHandler"]);
  return true;
}

export interface Modules {
  /** The module with the handler. */
  handler: string;
  /** The module with the limiter. */
  limits: string;
}

const CHARGE = [
  `const denied = await rateLimited(request, ${LIMIT});`,
  "if (denied) return denied;",
];
const CHARGE_FUNCTION = [
  `const key = await keyOf(getRequest());`,
  `await limiter.limit(${LIMIT}, { key, throws: true });`,
];

/** The lines for an author of a route of another form. */
export function routeLines(host: Host | undefined, target: string, from: Modules): string {
  if (!target.startsWith("/")) {
    const imports = [
      importText("@tanstack/react-start/server", ["getRequest"]),
      importText(from.handler, ["keyOf"]),
      importText(from.limits, ["limiter"]),
    ];
    return [...imports, "", `// At the start of ${target}:`, ...CHARGE_FUNCTION].join("\n");
  }
  const used =
    host && "app" in host
      ? [`${host.app}.post("${target.slice(host.base.length)}", rateLimited(${LIMIT}), …);`]
      : [`// At the start of the route, where \`request\` is its request:`, ...CHARGE];
  return [importText(from.handler, ["rateLimited"]), "", ...used].join("\n");
}

/** Charges the limit in a route that answers to the path, or in a server function of this name. */
export function editRoute(code: Code, host: Host, target: string, from: Modules): boolean {
  const route = routeIn(code, host, target);
  if (route === undefined || code.text.includes("rateLimited(")) return false;
  if ("call" in route) {
    const [path, next] = route.call.node.arguments;
    const [end, start] = [endOf(path!), startOf(next!)];
    const gap = code.text.slice(end, start).replace(/^\s*,/, "");
    code.insert(start, `${code.styled(`rateLimited(${LIMIT}),`)}${gap === "" ? " " : gap}`);
    code.addImport(from.handler, ["rateLimited"]);
    return true;
  }
  const { fn } = route;
  if (!target.startsWith("/")) {
    insertFirst(code, fn, CHARGE_FUNCTION);
    code.addImport("@tanstack/react-start/server", ["getRequest"]);
    code.addImport(from.limits, ["limiter"]);
    code.addImport(from.handler, ["keyOf"]);
    return true;
  }
  const request = requestOf(code, fn, host);
  if (request === undefined) return false;
  insertFirst(
    code,
    fn,
    CHARGE.map((line) => line.replace("(request", `(${request}`)),
  );
  code.addImport(from.handler, ["rateLimited"]);
  return true;
}

function insertFirst(code: Code, { body }: FunctionNode, lines: readonly string[]): void {
  const first = body.type === "BlockStatement" ? body.body[0] : undefined;
  const isOwnLine = first && /^\s*$/.test(lineBefore(code, startOf(first)));
  const indent = isOwnLine
    ? code.indentAt(startOf(first))
    : code.indentAt(startOf(body)) + code.unit;
  const text = lines.map((line) => `\n${indent}${code.styled(line)}`).join("");
  code.insert(startOf(body) + 1, text + (isOwnLine ? "" : `\n${indent}`));
}

const lineBefore = ({ text }: Code, at: number) =>
  text.slice(text.lastIndexOf("\n", at - 1) + 1, at);

/** The code of the request in a function, which gets a parameter if it has none. */
function requestOf(code: Code, fn: FunctionNode, { kind }: Host): string | undefined {
  const [first] = fn.params;
  if (first === undefined) {
    const type = /\.tsx?$/.test(code.file) && kind === "next" ? ": Request" : "";
    const name =
      fn.type === "FunctionDeclaration" || fn.type === "FunctionExpression" ? fn.id : null;
    const from = fn.type === "ObjectMethod" ? endOf(fn.key) : name ? endOf(name) : startOf(fn);
    const at = code.text.indexOf("(", from) + 1;
    code.insert(at, kind === "start" ? "{ request }" : `request${type}`);
    return "request";
  }
  if (kind === "next") return first.type === "Identifier" ? first.name : undefined;
  if (first.type === "Identifier") return `${first.name}.request`;
  if (first.type !== "ObjectPattern") return undefined;
  const own = first.properties.find(
    (each) => each.type === "ObjectProperty" && nameOf(each.key) === "request",
  );
  if (own === undefined) code.insert(startOf(first) + 1, " request,");
  return own?.type === "ObjectProperty" ? nameOf(own.value) : "request";
}
