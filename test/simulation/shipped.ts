/**
 * The package as it is shipped, once per process of a simulation, with the globals of that process. All
 * sources become one function, and each global is a parameter of that function. The language's own
 * globals are passed unchanged, the host's globals come from the simulation, and every other global is
 * undefined. So code that gets the time, a timer or a random number from elsewhere fails.
 */
import { fileURLToPath } from "node:url";
import { build, type Rollup } from "vite";
import type * as Entry from "./entry.js";
import type * as PagesEntry from "./pages/entry.js";

export type Shipped = typeof Entry;
/** The code for pages and the processes that serve them: the router, the observer, and tRPC. */
export type ShippedForPages = typeof PagesEntry;

/** Globals that are the same everywhere and at all times. */
const LANGUAGE = new Set(
  (
    "AbortController AbortSignal AggregateError Array ArrayBuffer BigInt BigInt64Array Boolean DataView " +
    "DOMException Error EvalError Event EventTarget Float64Array Headers Infinity Int32Array Intl JSON Map NaN " +
    "Number Object Promise Proxy RangeError ReadableStream ReferenceError Reflect RegExp Response Set String Symbol " +
    "SyntaxError TextDecoder TextEncoder TypeError URIError URL Uint32Array Uint8Array WeakMap WeakRef WeakSet " +
    "decodeURIComponent encodeURIComponent isFinite isNaN parseFloat parseInt structuredClone undefined"
  ).split(" "),
);
/** Names that cannot be parameters of a function. */
const RESERVED = new Set(["undefined", "NaN", "Infinity", "eval", "arguments"]);

const NAMES = Object.getOwnPropertyNames(globalThis).filter(
  (name) => /^[A-Za-z_$][\w$]*$/.test(name) && !RESERVED.has(name),
);

export interface StartShipped {
  (globals: Record<string, unknown>): Shipped;
  forPages(globals: Record<string, unknown>): ShippedForPages;
}

/** @param edit changes a source, to test that a simulation finds the change. */
export async function loadShipped(
  edit?: (path: string, code: string) => string,
): Promise<StartShipped> {
  const [start, forPages] = await Promise.all([
    loadEntry<Shipped>("entry.ts", edit),
    loadEntry<ShippedForPages>("pages/entry.ts", edit),
  ]);
  return Object.assign(start, { forPages });
}

async function loadEntry<TExports>(
  entry: string,
  edit: ((path: string, code: string) => string) | undefined,
): Promise<(globals: Record<string, unknown>) => TExports> {
  const result = (await build({
    configFile: false,
    logLevel: "silent",
    root: fileURLToPath(new URL(".", import.meta.url)),
    build: {
      ssr: fileURLToPath(new URL(entry, import.meta.url)),
      write: false,
      minify: false,
      target: "es2023",
      rollupOptions: { output: { format: "cjs" } },
    },
    ssr: { noExternal: true },
    plugins: edit
      ? [{ name: "edit", enforce: "pre", transform: (code, id) => edit(id, code) }]
      : [],
  })) as Rollup.RollupOutput;
  const { code } = result.output[0];
  // oxlint-disable-next-line typescript/no-implied-eval -- The globals are its parameters.
  const start = new Function("exports", "require", ...NAMES, `"use strict";\n${code}`);
  return (globals) => {
    const exports = {};
    const given = (name: string) =>
      globals[name] ??
      (name === "globalThis" ? globals : undefined) ??
      (LANGUAGE.has(name) ? globalThis[name as keyof typeof globalThis] : undefined);
    const require = (name: string): never => {
      throw new Error(`the simulation has no module ${name}`);
    };
    start(exports, require, ...NAMES.map(given));
    return exports as TExports;
  };
}
