/** Chooses the key of a call: the user's id, as the context has it, or else the address. */
import type { Context, Field } from "./context.js";
import type { Project } from "./project.js";

export interface Caller {
  /** Whether the key is the user's id, for callers with a user. */
  hasUser: boolean;
  /** The value of `key` in `createRateLimitTRPC`, with two spaces per level. */
  key: string;
  /** Whether the context has to get the address first. */
  needsAddress: boolean;
  /** Whether the key reads a header of proxies, because nothing tells the connection. */
  isForwarded: boolean;
  /** Whether the context has an `address` that visitors may have chosen. */
  isTaken: boolean;
}

export function callerOf(project: Project, context: Context): Caller {
  const user = userIn(project, context);
  const address = addressIn(context);
  const visitor = `ipKey(${address ?? "ctx.address"})`;
  const key =
    user === undefined
      ? `({ ctx }) => ${visitor}`
      : `({ ctx }) =>\n    ${user.isThere} ? \`user:\${${user.id}}\` : ${visitor}`;
  const needsAddress = address === undefined;
  return {
    hasUser: user !== undefined,
    key,
    needsAddress,
    isForwarded: key.includes("clientAddress("),
    isTaken: needsAddress && context.fields.has("address"),
  };
}

/**
 * Matches code whose address no visitor can choose. Code with a header does not count: the application may
 * take any entry of the header, such as the first, which visitors choose.
 */
const SAFE = /\breq(?:uest)?\.ip\b|\bremoteAddress\b|\bgetConnInfo\(|\bgetRequestIP\(\)/;
const isSafe = ({ value }: Field) =>
  /\bclientAddress\(/.test(value) || (SAFE.test(value) && !/forwarded|header/i.test(value));

/** The code that reads the address from the context, if the context has the address or the headers. */
function addressIn({ fields }: Context): string | undefined {
  for (const name of ["address", "ip", "ipAddress", "clientIp"]) {
    const field = fields.get(name);
    if (field !== undefined && isSafe(field)) return `ctx.${name}`;
  }
  if (fields.has("headers")) return "clientAddress(ctx.headers)";
  const type = fields.get("req")?.type ?? "";
  if (/\b(?:Next)?Request\b/.test(type) && !/express|fastify/i.test(type)) {
    return "clientAddress(ctx.req.headers)";
  }
  return undefined;
}

interface User {
  isThere: string;
  id: string;
}

/** The user's id in the context, as the sources or the type of the context read it. */
function userIn({ members }: Project, { fields }: Context): User | undefined {
  const texts = members.flatMap(({ sources }) => [...sources.values()]);
  const reads = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  const typeOf = (name: string) => fields.get(name)?.type ?? "";
  // A session beside them may be one of another shape.
  if (fields.has("userId")) return { isThere: "ctx.userId", id: "ctx.userId" };
  if (fields.has("user")) return { isThere: "ctx.user", id: "ctx.user.id" };
  if (fields.has("session")) {
    const isKnown = members.some(({ packages }) =>
      ["better-auth", "next-auth", "@auth/core"].some((name) => packages.has(name)),
    );
    if (isKnown || /\buser\b/.test(typeOf("session")) || reads(/\bsession\??\.user\b/)) {
      return { isThere: "ctx.session?.user", id: "ctx.session.user.id" };
    }
    if (/\buserId\b/.test(typeOf("session")) || reads(/\bctx\.session\??\.userId\b/)) {
      return { isThere: "ctx.session?.userId", id: "ctx.session.userId" };
    }
  }
  if (fields.has("auth") && (/\buserId\b/.test(typeOf("auth")) || reads(/\bauth\??\.userId\b/))) {
    return { isThere: "ctx.auth?.userId", id: "ctx.auth.userId" };
  }
  return undefined;
}
