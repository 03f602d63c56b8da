/** Where each kind of server finds the address of a visitor. */
import { importText } from "../code/imports.js";
import type { Runtime } from "./server.js";

export interface Host {
  /** A text in the file of the context that tells the kind of server. */
  mark: RegExp;
  /** The name of the parameter with the request, or of the property of the parameter with the request. */
  name: string;
  /** The code of the address. `$` stands for the request. */
  value: string;
  /** The imports that the code needs. */
  imports: readonly (readonly [from: string, name: string])[];
  /** The type of a parameter that is the request itself, under any name. */
  itself?: RegExp;
}

/** What the hosts depend on. */
export interface Server {
  /** The packages of the file with the context. */
  packages: ReadonlySet<string>;
  /** What runs the server. */
  runtime: Runtime;
}

const BELIEVED = ["trpc-rate-limit/server", "clientAddress"] as const;

const CONNINFO: Record<Runtime, string | undefined> = {
  node: "@hono/node-server/conninfo",
  bun: "hono/bun",
  workers: "hono/cloudflare-workers",
  unknown: undefined,
};

function hono(runtime: Runtime): Host {
  const host = {
    mark: /\bHonoContext\b|\bContext\b[^\n]*\bfrom\s*["']hono["']/,
    name: "context",
    itself: /^(?:Hono)?Context(?:<.*>)?$/s,
  };
  const from = CONNINFO[runtime];
  if (from === undefined) {
    return { ...host, value: "clientAddress($.req.raw.headers)", imports: [BELIEVED] };
  }
  const connection = "getConnInfo($).remote.address";
  const info = [from, "getConnInfo"] as const;
  // Cloudflare is the proxy in front of a Worker, and sets the header that this reads.
  if (runtime === "workers") return { ...host, value: connection, imports: [info] };
  return {
    ...host,
    value: `clientAddress($.req.raw.headers, { connection: ${connection} })`,
    imports: [BELIEVED, info],
  };
}

/** A framework that finds the address by its own setting for proxies. */
const FRAMEWORK: Host = {
  mark: /\b(?:Create(?:Express|Fastify)ContextOptions|createExpressMiddleware|fastifyTRPCPlugin)\b/,
  name: "req",
  value: "$.ip",
  imports: [],
};

const NODE: Host = {
  mark: /\b(?:Create(?:HTTP|Next)ContextOptions|createHTTP(?:Server|Handler)|createNextApiHandler)\b/,
  name: "req",
  value: "clientAddress($.headers, { connection: $.socket.remoteAddress })",
  imports: [BELIEVED],
};

const REQUEST = /^(?:\w+\.)?(?:Next)?Request$/;

const START: Host = {
  mark: /\breq\s*:\s*Request\b/,
  name: "req",
  itself: REQUEST,
  value: "clientAddress($.headers, { connection: getRequestIP() })",
  imports: [BELIEVED, ["@tanstack/react-start/server", "getRequestIP"]],
};

const FETCH: Host = {
  mark: /\b(?:FetchCreateContextFnOptions|fetchRequestHandler|trpcServer)\b|\b_?req\s*:\s*(?:NextRequest|Request)\b/,
  name: "req",
  itself: REQUEST,
  value: "clientAddress($.headers)",
  imports: [BELIEVED],
};

const HEADERS: Host = {
  mark: /\bheaders\s*:\s*Headers\b/,
  name: "headers",
  itself: /^Headers$/,
  value: "clientAddress($)",
  imports: [BELIEVED],
};

/** A function of Next that reads the headers of the request around it. */
export const NEXT: Host = {
  mark: /^/,
  name: "headers",
  value: "clientAddress(await headers())",
  imports: [BELIEVED, ["next/headers", "headers"]],
};

/** How a route finds the address of its caller, where there is no tRPC. */
export function addressOf(
  kind: "express" | "hono" | "next" | "start",
  runtime: Runtime,
): Pick<Host, "imports" | "value"> {
  return { express: FRAMEWORK, hono: hono(runtime), next: FETCH, start: START }[kind];
}

/** The kind of server of a file, as its text tells. */
export function hostOf(text: string, { packages, runtime }: Server): Host | undefined {
  const start = packages.has("@tanstack/react-start") ? [START] : [];
  const next = packages.has("next") ? [NEXT] : [];
  const hosts = [hono(runtime), FRAMEWORK, NODE, ...start, FETCH, HEADERS, ...next];
  return hosts.find(({ mark }) => mark.test(text));
}

/** The lines for an author who makes the context in another way. */
export function addressLines(creator: string, text: string, server: Server): string {
  const { imports, value, name } = hostOf(text, server) ?? HEADERS;
  const lines = imports.map(([from, each]) => importText(from, [each])).join("\n");
  return `${lines === "" ? "" : `${lines}\n\n`}// In what ${creator} returns, where \`${name}\` is that of the request:
address: ${value.replaceAll("$", name)},`;
}
