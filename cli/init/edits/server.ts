/** The edits of the files of a server: the handler of tRPC, and Prisma's adapter. */
import type { Node, ObjectExpression } from "@babel/types";
import { type Code, indented } from "../code/code.js";
import { importText, writeDefaultImport } from "../code/imports.js";
import {
  callsOf,
  endOf,
  findAll,
  isFunction,
  nameOf,
  propertyOf,
  startOf,
} from "../code/syntax.js";

const HANDLERS = [
  "fetchRequestHandler",
  "trpcServer",
  "createExpressMiddleware",
  "createHTTPServer",
  "createHTTPHandler",
  "createNextApiHandler",
];

export const HANDLER_HINT = new RegExp(String.raw`\b(${HANDLERS.join("|")}|fastifyTRPCPlugin)\b`);

/** The settings of the handler that serves tRPC. */
export function handlerIn({ program }: Code): ObjectExpression | undefined {
  for (const { node } of callsOf(program, ...HANDLERS)) {
    const [settings] = node.arguments;
    if (settings?.type === "ObjectExpression" && propertyOf(settings, "router")) return settings;
  }
  // Fastify has the settings in the options of its plugin.
  return findAll(program, "ObjectProperty")
    .filter(({ node }) => nameOf(node.key) === "trpcOptions")
    .flatMap(({ node }) => findAll(node.value, "ObjectExpression"))
    .map(({ node }) => node)
    .find((object) => propertyOf(object, "router"));
}

/** Adds `Retry-After`, and the fields of the limits, to the answers of tRPC. */
export function editHandler(code: Code): boolean {
  const settings = handlerIn(code);
  const router = settings && propertyOf(settings, "router");
  if (settings === undefined || router === undefined) return false;
  if (propertyOf(settings, "responseMeta") !== undefined) return false;
  const isOneLine = !code.textOf(settings).includes("\n");
  const gap = isOneLine ? " " : `\n${code.indentAt(startOf(router))}`;
  code.insert(endOf(router), `,${gap}responseMeta: rateLimitResponseMeta`);
  code.addImport("trpc-rate-limit/trpc", ["rateLimitResponseMeta"]);
  return true;
}

export const HANDLER_LINES = `${importText("trpc-rate-limit/trpc", ["rateLimitResponseMeta"])}

// In the settings of the handler of tRPC: Retry-After, and the fields of the limits.
responseMeta: rateLimitResponseMeta,`;

/** The call of Prisma's adapter that opens a pool inside of the adapter. */
export function hiddenPoolIn({ program }: Code) {
  const [call, ...others] = callsOf(program, "PrismaPg");
  return call?.node.arguments[0]?.type === "ObjectExpression" && others.length === 0
    ? call
    : undefined;
}

/** Opens the pool beside the adapter, so that the limits can use it. */
export function editPrismaPool(code: Code): boolean {
  const call = hiddenPoolIn(code);
  const settings = call?.node.arguments[0];
  const i = call?.around.findLastIndex(({ type }) => /Statement$|Declaration$/.test(type)) ?? -1;
  if (call === undefined || settings === undefined || i === -1) return false;
  // Inside of a function, the settings may depend on parameters: the pool cannot be opened before the
  // function.
  if (call.around.slice(i).some(isFunction)) return false;
  let statement: Node = call.around[i]!;
  const outer = call.around[i - 1];
  if (outer?.type === "ExportNamedDeclaration") statement = outer;
  const indent = code.indentAt(startOf(statement));
  const [before, after] = poolLines(SETTINGS).split(SETTINGS) as [string, string];
  const line = (text: string) => indented(code.styled(text), indent).trimStart();
  code.insert(
    startOf(statement),
    line(before) + code.textOf(settings) + line(after) + `\n${indent}`,
  );
  code.replace(startOf(settings), endOf(settings), "pool");
  writeDefaultImport(code, "pg", "pg");
  return true;
}

const POOL_IMPORT = 'import pg from "pg";';

const SETTINGS = "{ connectionString }";

function poolLines(settings: string): string {
  return `// Opened here so that limits can use it, too: a call then takes about 0.6 of the time.
const pool = new pg.Pool(${settings});
// Without a listener, the end of an idle connection ends the process.
pool.on("error", (error) => console.warn("a connection has ended", error));`;
}

export const POOL_LINES = `${POOL_IMPORT}

${poolLines(SETTINGS)}
new PrismaPg(pool)`;
