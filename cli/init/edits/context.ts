/** Adds the address of the caller to the context, and passes the database of a server to the limits. */
import type { Node } from "@babel/types";
import { addressFunction, forwarded, OF_HEADERS } from "../caller.js";
import { type Code, indented } from "../code/code.js";
import { importText } from "../code/imports.js";
import {
  bare,
  callsOf,
  declaredIn,
  endOf,
  findAll,
  type FunctionNode,
  isFunction,
  nameOf,
  propertyOf,
  returnsOf,
  startOf,
} from "../code/syntax.js";
import { handlerIn } from "./server.js";

/** The place where a server finds the address of a caller. */
interface Host {
  /** A text in the file of the context that tells the kind of server. */
  mark: RegExp;
  /** The name of the parameter with the request, or of the property of the parameter with the request. */
  name: string;
  /** The code of the address. `$` stands for the request. */
  value: string;
  /** A function for the end of the file. */
  helper?: string;
  /** The import of the helper. */
  from?: readonly [from: string, name: string];
}

const ON_WORKERS = "hono/cloudflare-workers";

const BY_CLOUDFLARE = `/** Cloudflare sets the header that it comes from. */
function addressOf(context: HonoContext): string | undefined {
  return getConnInfo(context).remote.address;
}`;

const orConnection = (parameter: string, value: string) =>
  addressFunction(parameter, value).replace("): string {", "): string | undefined {");

function hono(from: string): Host {
  return {
    mark: /\bHonoContext\b/,
    name: "context",
    value: "addressOf($)",
    helper:
      from === ON_WORKERS
        ? BY_CLOUDFLARE
        : orConnection(
            "context: HonoContext",
            `context.req.header("x-forwarded-for")?.split(",").at(-1) ??\n    getConnInfo(context).remote.address`,
          ),
    from: [from, "getConnInfo"],
  };
}

const HEADERS_OF_REQUEST = `req.headers.get("x-forwarded-for")?.split(",").at(-1)`;

/** @param packages the packages of the server. */
function hostsOf(packages: ReadonlySet<string>): Host[] {
  const conninfo = packages.has("@hono/node-server")
    ? "@hono/node-server/conninfo"
    : packages.has("@cloudflare/workers-types") || packages.has("alchemy")
      ? ON_WORKERS
      : "hono/bun";
  const start: Host = {
    mark: /\breq\s*:\s*Request\b/,
    name: "req",
    value: "addressOf($)",
    helper: orConnection("req: Request", `${HEADERS_OF_REQUEST} ?? getRequestIP()`),
    from: ["@tanstack/react-start/server", "getRequestIP"],
  };
  return [
    hono(conninfo),
    {
      mark: /\b(?:Create(?:Express|Fastify)ContextOptions|createExpressMiddleware|fastifyTRPCPlugin)\b/,
      name: "req",
      // The framework finds the address by its own setting for proxies.
      value: "$.ip",
    },
    {
      mark: /\b(?:Create(?:HTTP|Next)ContextOptions|createHTTP(?:Server|Handler)|createNextApiHandler)\b/,
      name: "req",
      value: "addressOf($)",
      helper: orConnection(
        "req: IncomingMessage",
        `req.headers["x-forwarded-for"]?.toString().split(",").at(-1) ??\n    req.socket.remoteAddress`,
      ),
      from: ["node:http", "type IncomingMessage"],
    },
    ...(packages.has("@tanstack/react-start") ? [start] : []),
    {
      mark: /\b(?:FetchCreateContextFnOptions|fetchRequestHandler|trpcServer)\b|\b_?req\s*:\s*(?:NextRequest|Request)\b/,
      name: "req",
      value: "addressOf($)",
      helper: addressFunction("req: Request", forwarded("req.headers")),
    },
    OTHER_HOST,
  ];
}

const OTHER_HOST: Host = {
  mark: /\bheaders\s*:\s*Headers\b/,
  name: "headers",
  value: "addressOf($)",
  helper: OF_HEADERS,
};

/** The lines for an author who makes the context in another way. */
export function addressLines(creator: string, text: string, packages: ReadonlySet<string>): string {
  const host = hostsOf(packages).find(({ mark }) => mark.test(text)) ?? OTHER_HOST;
  const imports = host.from ? `${importText(host.from[0], [host.from[1]])}\n\n` : "";
  return `${imports}// In what ${creator} returns, where \`${host.name}\` is that of the request:
address: ${host.value.replace("$", host.name)},${host.helper ? `\n\n${host.helper}` : ""}`;
}

const FIELD = `/** Of the caller, for the limits of visitors. */
address: string | undefined;`;

/** @param name the name of the type; without a name, the type in `initTRPC.context<{ … }>` is edited. */
export function editContextType(code: Code, name: string | undefined): boolean {
  const declared = declaredIn(code.program).find((each) => each.name === name)?.value;
  const inline = findAll(code.program, "CallExpression").find(
    ({ node }) => nameOf(node.callee) === "context",
  )?.node.typeParameters?.params[0];
  const body =
    declared?.type === "TSInterfaceDeclaration"
      ? declared.body
      : declared?.type === "TSTypeAliasDeclaration"
        ? declared.typeAnnotation
        : name === undefined
          ? inline
          : undefined;
  if (body?.type !== "TSInterfaceBody" && body?.type !== "TSTypeLiteral") return false;
  if (!code.textOf(body).includes("\n")) {
    code.insert(startOf(body) + 1, " address: string | undefined;");
    return true;
  }
  const indent = code.indentAt(startOf(body)) + code.unit;
  code.insert(startOf(body) + 1, `\n${indented(code.styled(FIELD), indent)}`);
  return true;
}

/**
 * @param creator the name of the function that makes the context; without a name, the function in the
 * settings of the handler is edited.
 */
export function editCreateContext(
  code: Code,
  creator: string | undefined,
  packages: ReadonlySet<string>,
): boolean {
  const host = hostsOf(packages).find(({ mark }) => mark.test(code.text));
  const fn = creator === undefined ? inlineCreator(code) : declaredFunction(code, creator);
  if (host === undefined || !isFunction(fn)) return false;
  const [returned, ...others] = returnsOf(fn).map(bare);
  if (returned?.type !== "ObjectExpression" || others.length > 0) return false;
  if (propertyOf(returned, "address")) return true;
  const request =
    creator === undefined && fn.params.length === 0
      ? withParameter(code, fn, host.name)
      : requestIn(code, fn, host.name);
  if (request === undefined) return false;
  const entry = `address: ${host.value.replace("$", request)},`;
  const [first] = returned.properties;
  const isOneLine = !code.textOf(returned).includes("\n");
  const indent = code.indentAt(startOf(returned)) + code.unit;
  if (isOneLine)
    code.insert(startOf(returned) + 1, ` ${first ? entry : entry.slice(0, -1)}${first ? "" : " "}`);
  else code.insert(startOf(returned) + 1, `\n${indent}${entry}`);
  if (host.helper) code.append(`${code.styled(host.helper)}\n`);
  if (host.from) code.addImport(host.from[0], [host.from[1]]);
  return true;
}

function declaredFunction({ program }: Code, name: string): Node | undefined {
  const value = declaredIn(program).find((each) => each.name === name)?.value;
  return value && bare(value);
}

/** The function in `createContext` of the settings of a handler. */
export function inlineCreator(code: Code): FunctionNode | undefined {
  const settings = handlerIn(code);
  const property = settings && propertyOf(settings, "createContext");
  const fn = property?.type === "ObjectProperty" ? bare(property.value) : property;
  return isFunction(fn) ? fn : undefined;
}

/** Adds a parameter to a function. The handler gives the parameter its type. */
function withParameter(code: Code, fn: FunctionNode, name: string): string {
  code.insert(code.text.indexOf("(", startOf(fn)) + 1, `{ ${name} }`);
  return name;
}

/**
 * The code by which the function reads its request. Adds the request to the parameter, if it is missing
 * there.
 */
function requestIn(code: Code, fn: FunctionNode, name: string): string | undefined {
  const [parameter] = fn.params;
  if (parameter?.type === "ObjectPattern") {
    const own = parameter.properties.find(
      (each) => each.type === "ObjectProperty" && nameOf(each.key) === name,
    );
    if (own?.type === "ObjectProperty") return nameOf(own.value);
    code.insert(startOf(parameter) + 1, ` ${name}${parameter.properties.length > 0 ? "," : " "}`);
    return name;
  }
  if (parameter?.type !== "Identifier") return undefined;
  const type = parameter.typeAnnotation ? code.textOf(parameter.typeAnnotation) : "";
  const end = startOf(parameter) + parameter.name.length;
  if (/^:\s*(?:\w+\.)?(?:Next)?Request\b/.test(type)) {
    if (parameter.name.startsWith("_")) code.replace(startOf(parameter), end, name);
    return parameter.name.startsWith("_") ? name : parameter.name;
  }
  if (!parameter.name.startsWith("_")) return `${parameter.name}.${name}`;
  code.replace(startOf(parameter), end, `{ ${name} }`);
  return name;
}

/**
 * Passes the database that the file makes to the limits.
 *
 * @param factory the function of the database's package.
 */
export function editServices(code: Code, factory: string, from: string): boolean {
  const calls = callsOf(code.program, factory);
  const [call] = calls;
  if (call === undefined || calls.length > 1) return false;
  const around = call.around.filter(({ type }) => type !== "AwaitExpression");
  const parent = around.at(-1)!;
  if (parent.type === "VariableDeclarator" && parent.id.type === "Identifier") {
    // The nodes around the variable: its declaration, and the `export` around the declaration, if there
    // is an `export`.
    const [outer, statement] = around.slice(-3, -1) as [Node, Node];
    const end = endOf(outer.type === "ExportNamedDeclaration" ? outer : statement);
    const indent = code.indentAt(startOf(statement));
    code.insert(end, `\n${indent}${code.styled(`keepLimitsIn(${parent.id.name});`)}`);
  } else if (parent.type === "ReturnStatement") {
    // A function returns the database, for example for each request on D1.
    const indent = code.indentAt(startOf(parent));
    const lines = `const db = ${code.textOf(parent.argument!)};\nkeepLimitsIn(db);\nreturn db;`;
    const text = indented(code.styled(lines), indent).trimStart();
    code.replace(startOf(parent), endOf(parent), text);
  } else return false;
  code.addImport(from, ["keepLimitsIn"]);
  return true;
}
