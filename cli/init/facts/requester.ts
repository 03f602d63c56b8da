/** Who calls a route without tRPC: a user, as the application's library for sessions says, or a visitor. */
import { addressOf } from "./addresses.js";
import { exportsOf } from "../code/exports.js";
import { declaredIn, rootOf } from "../code/syntax.js";
import type { Host } from "./host.js";
import { findInCode, type Member, sourceWith } from "./member.js";
import type { Project } from "./project.js";
import { runtimeOf } from "./server.js";
import { specifierOfFile } from "./specifiers.js";

type Imports = readonly (readonly [from: string, name: string])[];

export interface Requester {
  /** The code of the key. `$` stands for the request of the host. */
  key: string;
  /** A statement before the key; `undefined` where nothing tells a user. */
  session: string | undefined;
  imports: Imports;
  /** Whether it can be asked while the host itself answers, and not later. */
  isOfMoment: boolean;
}

/** @param file the file with the code of the key. */
export function requesterOf(
  project: Project,
  { kind }: Pick<Host, "kind">,
  file: string,
): Requester {
  const { api } = project;
  const address = addressOf(kind, runtimeOf(api));
  const session = sessionOf(project, kind, file);
  const visitor = `ipKey(${address.value})`;
  return {
    key: session ? `${session.isThere} ? \`user:\${${session.id}}\` : ${visitor}` : visitor,
    session: session?.statement,
    imports: [...address.imports, ["trpc-rate-limit/server", "ipKey"], ...(session?.imports ?? [])],
    isOfMoment: kind === "start" || session?.isOfMoment === true,
  };
}

interface Session {
  statement: string;
  isThere: string;
  id: string;
  imports: Imports;
  isOfMoment: boolean;
}

/** The header fields of the request of each host. `$` stands for the request. */
const HEADERS: Record<Host["kind"], string> = {
  express: "fromNodeHeaders($.headers)",
  hono: "$.req.raw.headers",
  next: "$.headers",
  start: "$.headers",
};

function sessionOf(project: Project, kind: Host["kind"], file: string): Session | undefined {
  const { api } = project;
  const better = api.packages.has("better-auth") ? betterAuthIn(api) : undefined;
  if (better !== undefined) {
    const from = specifierOfFile(project, file, better.file, better.name);
    return {
      statement: `const session = await ${better.name}.api.getSession({ headers: ${HEADERS[kind]} });`,
      isThere: "session",
      id: "session.user.id",
      imports: [
        ...(kind === "express" ? ([["better-auth/node", "fromNodeHeaders"]] as const) : []),
        [from, better.name],
      ],
      isOfMoment: false,
    };
  }
  if (kind !== "next") return undefined;
  const next = sourceWith(
    api,
    /\bNextAuth\([\s\S]*export\s*\{[^}]*\bauth\b|export const \{[^}]*\bauth\b[^}:]*\}\s*=\s*NextAuth\(/,
  );
  if (next !== undefined) {
    return {
      statement: "const session = await auth();",
      isThere: "session?.user?.id",
      id: "session.user.id",
      imports: [[specifierOfFile(project, file, next), "auth"]],
      isOfMoment: true,
    };
  }
  // Without its middleware, Clerk's `auth` throws.
  if (sourceWith(api, /\bclerkMiddleware\(/) === undefined) return undefined;
  return {
    statement: "const { userId } = await auth();",
    isThere: "userId",
    id: "userId",
    imports: [["@clerk/nextjs/server", "auth"]],
    isOfMoment: true,
  };
}

/** The exported instance of better-auth. */
function betterAuthIn(api: Member): { file: string; name: string } | undefined {
  return findInCode(api, /\bbetterAuth\s*\(/, (code) => {
    const made = declaredIn(code.program).find(
      ({ value, isVariable }) => isVariable && value && rootOf(value) === "betterAuth",
    );
    const exported = made && exportsOf(code).get(made.name);
    return exported && !exported.isDefault ? { file: code.file, name: exported.name } : undefined;
  })?.found;
}
