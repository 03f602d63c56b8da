/** Chooses the key of a call: the user's id, as the context has it, or else the address. */
import type { Context } from "./context.js";
import type { Project } from "./project.js";

export interface Caller {
  /** Whether the key is the user's id, for callers with a user. */
  hasUser: boolean;
  /** The value of `key` in `createRateLimitTRPC`, with two spaces per level. */
  key: string;
  /** The code of the function that the key calls. */
  helper: string | undefined;
  /** Whether the context has to get the address first. */
  needsAddress: boolean;
}

const BELIEVE = ` * The last entry of the header is written by the proxy in front of this server. Behind two proxies,
 * take \`.at(-2)\`. Without a proxy, visitors can choose it: see docs/visitors.md of trpc-rate-limit.`;
const FORWARDED = `("x-forwarded-for")?.split(",").at(-1)`;
/** The address for a server without a proxy, where the address of the connection is not known. */
const LOCAL = `"127.0.0.1"`;

/** The entry of the header, or this machine's own address where there is no proxy. */
export function forwarded(headers: string): string {
  return `${headers}.get${FORWARDED} ?? ${LOCAL}`;
}

/** The code of a function \`addressOf\` of headers, or of an object that has headers. */
export function addressFunction(parameter: string, value: string): string {
  return `/**
${BELIEVE}
 */
function addressOf(${parameter}): string {
  return ${value};
}`;
}

export const OF_HEADERS = addressFunction("headers: Headers", forwarded("headers"));

export function callerOf(project: Project, context: Context): Caller {
  const user = userIn(project, context);
  const { address, helper } = addressIn(context);
  const visitor = `ipKey(${address ?? "ctx.address"})`;
  const key =
    user === undefined
      ? `({ ctx }) => ${visitor}`
      : `({ ctx }) =>\n    ${user.isThere} ? \`user:\${${user.id}}\` : ${visitor}`;
  return { hasUser: user !== undefined, key, helper, needsAddress: address === undefined };
}

/** The code that reads the address from the context, if the context has the address or the headers. */
function addressIn({ fields }: Context): { address?: string; helper?: string } {
  const own = ["address", "ip", "ipAddress", "clientIp"].find((name) => fields.has(name));
  if (own !== undefined) return { address: `ctx.${own}` };
  if (fields.has("headers")) return { address: "addressOf(ctx.headers)", helper: OF_HEADERS };
  if (
    /\b(?:Next)?Request\b/.test(fields.get("req") ?? "") &&
    !/express/i.test(fields.get("req")!)
  ) {
    return { address: "addressOf(ctx.req.headers)", helper: OF_HEADERS };
  }
  return {};
}

interface User {
  isThere: string;
  id: string;
}

/** The user's id in the context, as the sources or the type of the context read it. */
function userIn({ members }: Project, { fields }: Context): User | undefined {
  const texts = members.flatMap(({ sources }) => [...sources.values()]);
  const reads = (pattern: RegExp) => texts.some((text) => pattern.test(text));
  const typeOf = (name: string) => fields.get(name) ?? "";
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
  if (fields.has("userId")) return { isThere: "ctx.userId", id: "ctx.userId" };
  if (fields.has("user")) return { isThere: "ctx.user", id: "ctx.user.id" };
  if (fields.has("auth") && (/\buserId\b/.test(typeOf("auth")) || reads(/\bauth\??\.userId\b/))) {
    return { isThere: "ctx.auth?.userId", id: "ctx.auth.userId" };
  }
  return undefined;
}
