/** The edit of the handler of tRPC. */
import type { Code } from "../code/code.js";
import { importText } from "../code/imports.js";
import { endOf, propertyOf, startOf } from "../code/syntax.js";
import { handlerIn } from "../facts/server.js";

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

/** The lines for an author whose handler has another form, or a `responseMeta` of its own. */
export function handlerLines(code: Code | undefined): string {
  const settings = code && handlerIn(code);
  const isTaken = settings !== undefined && propertyOf(settings, "responseMeta") !== undefined;
  return `${importText("trpc-rate-limit/trpc", ["rateLimitResponseMeta"])}

// In the settings of the handler of tRPC: Retry-After, and the fields of the limits.
${isTaken ? MERGED : "responseMeta: rateLimitResponseMeta,"}`;
}

const MERGED = `responseMeta(call) {
  const own = {}; // the header fields that your responseMeta returns today
  const { headers = [] } = rateLimitResponseMeta(call);
  return { headers: { ...own, ...Object.fromEntries(headers) } };
},`;
