/** The edits of the file of tRPC, and of the file of its router. */
import type { Node, ObjectExpression } from "@babel/types";
import type { Caller } from "../facts/caller.js";
import type { Code } from "../code/code.js";
import { importText } from "../code/imports.js";
import {
  bare,
  endOf,
  findAll,
  isFunction,
  nameOf,
  type Property,
  propertyOf,
  returnsOf,
  startOf,
} from "../code/syntax.js";
import { createCallOf } from "../facts/context.js";

export interface SectionOptions {
  /** The module from which the file imports the limits. */
  limits: string;
  caller: Caller;
}

const PROXIES = `
 * Behind proxies of your own, set TRUSTED_PROXIES to their number: see docs/visitors.md of trpc-rate-limit.`;

/** The code after \`const t\`. */
function section({ limits, caller }: SectionOptions, t: string): string {
  const who = caller.hasUser
    ? "that of a user who is logged in, or else of an address"
    : "that of a visitor's address";
  return `/**
 * RATE LIMITS
 *
 * The limits are in "${limits}". \`.use(rateLimited("createPost"))\` charges one of them in a
 * procedure, and components read it with \`useRateLimit("createPost")\`.
 *
 * \`key\` says whose limit it is: ${who}.${caller.isForwarded ? PROXIES : ""}
 */
export const { rateLimited, router: rateLimitRouter } = createRateLimitTRPC({
  ${t === "t" ? "t" : `t: ${t}`},
  limiter,
  key: ${caller.key},
});`;
}

const FORMATTER =
  "errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),";
const namesIn = (key: string) =>
  ["clientAddress", "ipKey"].filter((name) => key.includes(`${name}(`));
const NAMES = ["createRateLimitTRPC", "formatRateLimitError"];

/**
 * Edits the file of tRPC. `false` where `initTRPC…create(…)` makes no variable of the file, or where the
 * file formats errors in an unknown way.
 */
export function editTrpcFile(code: Code, options: SectionOptions): boolean {
  const call = createCallOf(code);
  const variable = call?.around.at(-1);
  const statement = call?.around[1];
  if (call === undefined || statement === undefined) return false;
  if (variable?.type !== "VariableDeclarator" || variable.id.type !== "Identifier") return false;
  if (call.around.some(isFunction)) return false;
  const [settings] = call.node.arguments;
  const formatter = code.styled(FORMATTER);
  if (settings === undefined) {
    code.insert(endOf(call.node) - 1, `{\n${code.unit}${formatter}\n}`);
  } else if (settings.type === "ObjectExpression") {
    const present = propertyOf(settings, "errorFormatter");
    if (present === undefined) {
      const isEmpty = settings.properties.length === 0;
      const indent = code.indentAt(startOf(settings));
      const line = `\n${indent}${code.unit}${formatter}`;
      code.insert(startOf(settings) + 1, isEmpty ? `${line}\n${indent}` : line);
    } else if (!wrapFormatter(code, present)) return false;
  } else return false;
  const end = code.lineEnd(endOf(statement));
  code.insert(end, `\n\n${code.styled(section(options, variable.id.name))}`);
  code.addImport("trpc-rate-limit/server", namesIn(options.caller.key));
  code.addImport("trpc-rate-limit/trpc", NAMES);
  code.addImport(options.limits, ["limiter"]);
  return true;
}

/** Passes each shape that the formatter returns through `formatRateLimitError`. */
function wrapFormatter(code: Code, property: Property): boolean {
  const fn = property.type === "ObjectMethod" ? property : bare(property.value);
  if (!isFunction(fn)) return false;
  const error = errorOf(code, fn.params[0]);
  if (error === undefined) return false;
  for (const value of returnsOf(fn)) wrapReturned(code, value, error);
  return true;
}

/** The name of the error in the function. */
function errorOf(code: Code, parameter: Node | undefined): string | undefined {
  if (parameter?.type === "Identifier") return `${parameter.name}.error`;
  if (parameter?.type !== "ObjectPattern") return undefined;
  for (const each of parameter.properties) {
    if (each.type !== "ObjectProperty" || nameOf(each.key) !== "error") continue;
    return nameOf(each.value);
  }
  const [first] = parameter.properties;
  if (first === undefined) return undefined;
  code.insert(startOf(first), "error, ");
  return "error";
}

function wrapReturned(code: Code, value: Node, error: string): void {
  const { extra } = value;
  const isParenthesized = extra?.["parenthesized"] === true;
  const start = isParenthesized ? (extra["parenStart"] as number) : startOf(value);
  const end = isParenthesized ? code.text.indexOf(")", endOf(value)) + 1 : endOf(value);
  const text = code.textOf(value);
  if (!text.includes("\n")) {
    code.replace(start, end, `formatRateLimitError(${text}, ${error}, limiter)`);
    return;
  }
  // The body of an arrow function goes to a line of its own.
  const isBody = /=>\s*$/.test(code.text.slice(0, start));
  const indent = code.indentAt(endOf(value)) + (isBody ? code.unit : "");
  const by = isBody ? code.unit + code.unit : code.unit;
  const inner = code.shifted(startOf(value), endOf(value), by);
  const line = (content: string) => `\n${indent}${code.unit}${content},`;
  const call = `formatRateLimitError(${line(inner)}${line(error)}${line("limiter")}\n${indent})`;
  const gap = /\s*$/.exec(code.text.slice(0, start))![0];
  if (isBody) code.replace(start - gap.length, end, `\n${indent}${call}`);
  else code.replace(start, end, call);
}

/** The lines for an author of a file with another form. */
export function trpcLines(options: SectionOptions): string {
  return `${importText("trpc-rate-limit/server", namesIn(options.caller.key))}
${importText("trpc-rate-limit/trpc", NAMES)}
${importText(options.limits, ["limiter"])}

// In initTRPC…create({ … }): pass the shape that you return through formatRateLimitError.
${FORMATTER}

// After \`const t\`:
${section(options, "t")}`;
}

/** The object of the router of type `AppRouter`. */
export function routerIn(code: Code) {
  const typed = findAll(code.program, "TSTypeAliasDeclaration").find(
    ({ node }) => node.id.name === "AppRouter",
  );
  const [query] = typed ? findAll(typed.node, "TSTypeQuery") : [];
  const name = (query && nameOf(query.node.exprName)) ?? "appRouter";
  const made = findAll(code.program, "VariableDeclarator").find(
    ({ node }) => nameOf(node.id) === name,
  );
  const value = made?.node.init && bare(made.node.init);
  return value ? routesIn(value) : undefined;
}

/** The object in `router({ … })`, also inside of `mergeRouters(router({ … }), …)`. */
function routesIn(value: Node): ObjectExpression | undefined {
  const [first] = value.type === "CallExpression" ? value.arguments : [];
  if (first === undefined) return undefined;
  return first.type === "ObjectExpression" ? first : routesIn(first);
}

/**
 * @param trpc the module from which the file of the router imports the file of tRPC; `undefined` if both
 * are one file.
 */
export function editRouter(code: Code, trpc: string | undefined): boolean {
  const object = routerIn(code);
  if (object === undefined) return false;
  const [first] = object.properties;
  const line = "rateLimit: rateLimitRouter,";
  const isOneLine = first !== undefined && !code.textOf(object).includes("\n");
  if (isOneLine) code.insert(startOf(first), `${line} `);
  else {
    const indent = first === undefined ? code.unit : code.indentAt(startOf(first));
    code.insert(startOf(object) + 1, `\n${indent}${line}${first === undefined ? "\n" : ""}`);
  }
  if (trpc !== undefined) code.addImport(trpc, ["rateLimitRouter"]);
  return true;
}
