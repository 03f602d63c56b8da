/** The edits of the files of a server: the handler of tRPC, and Prisma's adapter. */
import type { ObjectExpression } from "@babel/types";
import type { Code } from "../code/code.js";
import { importText } from "../code/imports.js";
import { callsOf, endOf, findAll, nameOf, propertyOf, startOf } from "../code/syntax.js";

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
