/** Adds the address of the visitor to the context, and passes the database of a server to the limits. */
import type { Identifier, Node } from "@babel/types";
import { type Code, indented } from "../code/code.js";
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
import { functionOf } from "../facts/makers.js";
import { type Host, hostOf, NEXT, type Server } from "../facts/addresses.js";

/** Optional, so that all who make a context by hand, such as tests, still compile. */
const FIELD = `/** Of the visitor, for the limits of those who are not logged in. */
address?: string | undefined;`;

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
    code.insert(startOf(body) + 1, ` ${FIELD.split("\n")[1]}`);
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
  server: Server,
): boolean {
  const fn = functionOf(code, creator);
  const host = hostOf(code.text, server);
  if (fn === undefined || host === undefined) return false;
  const [returned, ...others] = returnsOf(fn).map(bare);
  if (returned?.type !== "ObjectExpression" || others.length > 0) return false;
  if (propertyOf(returned, "address")) return true;
  const found = requestOf(code, fn, host, creator === undefined) ?? ofNext(code, fn, server);
  if (found === undefined) return false;
  const entry = `address: ${found.host.value.replaceAll("$", found.request)},`;
  const [first] = returned.properties;
  const isOneLine = !code.textOf(returned).includes("\n");
  const indent = code.indentAt(startOf(returned)) + code.unit;
  if (isOneLine)
    code.insert(startOf(returned) + 1, ` ${first ? entry : entry.slice(0, -1)}${first ? "" : " "}`);
  else code.insert(startOf(returned) + 1, `\n${indent}${entry}`);
  for (const [from, name] of found.host.imports) code.addImport(from, [name]);
  return true;
}

interface Request {
  host: Host;
  /** The code of the request. */
  request: string;
}

/**
 * Next gives the headers to any async function. A file that has another `headers` is left to its author.
 */
function ofNext(code: Code, fn: FunctionNode, { packages }: Server): Request | undefined {
  const isFree = !namesIn(code.program).includes(NEXT.name);
  return packages.has("next") && fn.async && isFree
    ? { host: NEXT, request: NEXT.name }
    : undefined;
}

/** The request that a function can read: its own, or that of a function around it. */
function requestOf(
  code: Code,
  fn: FunctionNode,
  host: Host,
  isInline: boolean,
): Request | undefined {
  if (host === NEXT) return undefined;
  const { name } = host;
  const outer = outerBinding(code, fn, host);
  if (fn.params.length === 0 && outer !== undefined) {
    return outer.isRequest ? { host, request: name } : undefined;
  }
  // A new parameter must not hide what the function reads by that name today.
  const isFree = outer === undefined && !namesIn(fn.body).includes(name);
  if (fn.params.length === 0) {
    if (!isInline || !isFree) return undefined;
    // The handler gives the parameter its type.
    code.insert(code.text.indexOf("(", startOf(fn)) + 1, `{ ${name} }`);
    return { host, request: name };
  }
  const request = requestIn(code, fn, host, isFree);
  return request === undefined ? undefined : { host, request };
}

/** The names of variables in a part of the code. */
function namesIn(node: Node): string[] {
  return findAll(node, "Identifier").flatMap(({ node: each, around }) => {
    const parent = around.at(-1);
    const isKey =
      parent !== undefined &&
      (("key" in parent && parent.key === each && !("shorthand" in parent && parent.shorthand)) ||
        ("property" in parent && parent.property === each));
    return isKey ? [] : [each.name];
  });
}

/** A parameter of this name of a function around `fn`, or a variable of the file. */
function outerBinding(code: Code, fn: FunctionNode, host: Host) {
  const { name } = host;
  const around = findAll(code.program, fn.type).find(({ node }) => node === fn)?.around ?? [];
  for (const each of around.toReversed()) {
    if (!isFunction(each)) continue;
    for (const parameter of each.params) {
      if (!namesIn(parameter).includes(name)) continue;
      const type = parameter.type === "Identifier" ? typeOf(code, parameter) : "";
      return { isRequest: host.itself?.test(type) === true };
    }
  }
  return declaredIn(code.program).some((each) => each.name === name)
    ? { isRequest: false }
    : undefined;
}

/**
 * The code by which the function reads its request. Adds the request to the parameter, if it is missing
 * there.
 */
function requestIn(
  code: Code,
  fn: FunctionNode,
  { name, itself }: Host,
  isFree: boolean,
): string | undefined {
  for (const each of fn.params) {
    if (each.type !== "Identifier" || !itself?.test(typeOf(code, each))) continue;
    return each.name.startsWith("_") ? renamed(code, each, name, isFree) : each.name;
  }
  const [parameter] = fn.params;
  if (parameter?.type === "ObjectPattern") {
    const own = parameter.properties.find(
      (each) => each.type === "ObjectProperty" && nameOf(each.key) === name,
    );
    if (own?.type === "ObjectProperty") return nameOf(own.value);
    if (!isFree) return undefined;
    code.insert(startOf(parameter) + 1, ` ${name}${parameter.properties.length > 0 ? "," : " "}`);
    return name;
  }
  // An untyped parameter of a function that has a name may be anything.
  if (parameter?.type !== "Identifier" || typeOf(code, parameter) === "unknown") return undefined;
  return parameter.name.startsWith("_")
    ? renamed(code, parameter, `{ ${name} }`, isFree) && name
    : `${parameter.name}.${name}`;
}

/** The text of the type of a parameter. */
function typeOf(code: Code, { typeAnnotation: type }: Identifier): string {
  return type ? code.textOf(type).replace(/^:\s*/, "") : "";
}

function renamed(code: Code, parameter: Identifier, by: string, isFree: boolean) {
  if (!isFree) return undefined;
  code.replace(startOf(parameter), startOf(parameter) + parameter.name.length, by);
  return by;
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
