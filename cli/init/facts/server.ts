/** The servers of an application: the files that serve tRPC, and the runtime that runs them. */
import type { ObjectExpression } from "@babel/types";
import type { Code } from "../code/code.js";
import { callsOf, findAll, nameOf, propertyOf } from "../code/syntax.js";
import { codesIn, findInCode, type Member } from "./member.js";
import type { Project } from "./project.js";

const HANDLERS = [
  "fetchRequestHandler",
  "trpcServer",
  "createExpressMiddleware",
  "createHTTPServer",
  "createHTTPHandler",
  "createNextApiHandler",
];

const HANDLER_HINT = new RegExp(String.raw`\b(${HANDLERS.join("|")}|fastifyTRPCPlugin)\b`);

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

export interface Handler {
  member: Member;
  file: string;
}

/** The first handler of each package. */
export function handlersOf({ users, api }: Project): Handler[] {
  return [...new Set([...users, api])].flatMap((member) => {
    const found = findInCode(member, HANDLER_HINT, handlerIn);
    return found === undefined ? [] : [{ member, file: found.file }];
  });
}

/** All files with a handler. */
export function handlerCodesOf({ users, api }: Project): { member: Member; code: Code }[] {
  return [...new Set([...users, api])].flatMap((member) =>
    codesIn(member, HANDLER_HINT)
      .filter((code) => handlerIn(code) !== undefined)
      .map((code) => ({ member, code })),
  );
}

export type Runtime = "node" | "bun" | "workers" | "unknown";

/** The code of a server on Bun: the default export of its file is what Bun serves. */
const BUN = /["']hono\/bun["']|\bBun\.serve\(|^export default \{[^}]*\bport\b[^}]*\bfetch\b/m;

/** What runs a server on Hono, which has another function for the address of a connection on each. */
export function runtimeOf(server: Member): Runtime {
  const { packages, packageJson, sources } = server;
  if (packages.has("@hono/node-server")) return "node";
  if (["@cloudflare/workers-types", "alchemy", "wrangler"].some((name) => packages.has(name))) {
    return "workers";
  }
  const isBun =
    ["@types/bun", "bun-types"].some((name) => packages.has(name)) ||
    /"packageManager":\s*"bun@|"bun (?!run (?:build|lint)\b)[^"]*\.[jt]sx?\b/.test(packageJson) ||
    [...sources.values()].some((text) => BUN.test(text));
  return isBun ? "bun" : "unknown";
}
