/** Wires the server's side: tRPC, the context, the router, the handlers, and the database. */
import type { Code } from "../code/code.js";
import { importedFrom, importText } from "../code/imports.js";
import { callsOf, propertyOf } from "../code/syntax.js";
import type { Draft } from "../draft.js";
import type { Application } from "../facts/application.js";
import type { Database } from "../facts/database.js";
import type { Maker } from "../facts/makers.js";
import { findInCode, memberOf } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import { handlersOf, runtimeOf } from "../facts/server.js";
import { specifierOfFile } from "../facts/specifiers.js";
import type { Trpc } from "../facts/trpc.js";
import { editContextType, editCreateContext, editServices } from "./context.js";
import { addDependency } from "./dependency.js";
import { addressLines } from "../facts/addresses.js";
import { editHandler, handlerLines } from "./server.js";
import { editRouter, editTrpcFile, routerIn, trpcLines } from "./trpc.js";

interface ServerPlan {
  draft: Draft;
  app: Application;
  project: Project;
  trpc: Trpc;
  /** The file of the limits. */
  limits: string;
}

export async function wireServer(draft: Draft, app: Application): Promise<void> {
  const { project, trpc, limits, database } = app;
  if (trpc === undefined) return;
  const plan = { draft, app, project, trpc, limits: limits.file };
  if (trpc.present !== undefined) draft.seen(trpc.present);
  else await wireTrpc(plan);
  await wireRouter(plan);
  if (database.client.kind === "made") await wireDatabase(plan, database.client);
  await wireHandlers(plan);
}

/** The context comes first: the key that is written into the file of tRPC reads its address. */
async function wireTrpc(plan: ServerPlan): Promise<void> {
  const { draft, project, limits } = plan;
  const { file, context, caller } = plan.trpc;
  const isKnown = !caller.needsAddress || (context.file !== undefined && !caller.isTaken);
  if (caller.needsAddress && isKnown) await wireContext(plan);
  if (caller.isForwarded) draft.note(PROXIES);
  const section = { limits: specifierOfFile(project, file, limits), caller };
  await draft.need({
    file,
    edit: (code) => isKnown && editTrpcFile(code, section),
    lines: (context.kind === "none" ? CONTEXT_LINES : "") + trpcLines(section),
    ...(context.kind === "none" && { why: "its context does not say who calls" }),
    ...(caller.isTaken && { why: "the `address` of its context may be what visitors have sent" }),
  });
}

const CONTEXT_LINES = `// The context says who calls. In the file of the handler, return it from createContext:
// { address } is \`req.ip\` of Express and Fastify, or \`req.socket.remoteAddress\` of Node.js;
// see docs/visitors.md of trpc-rate-limit.
initTRPC.context<{ address: string | undefined }>()

`;

export const PROXIES =
  "Behind proxies of your own, set TRUSTED_PROXIES to their number, or all visitors share one bucket. " +
  "On Vercel it is known; see docs/visitors.md of trpc-rate-limit.";

async function wireContext({ draft, project, app, trpc }: ServerPlan): Promise<void> {
  const { makers } = trpc;
  const { file, name, kind } = trpc.context;
  if (kind === "function") {
    const member = memberOf(project.members, file!);
    await wireMaker(draft, app, { member, file: file!, name }, true);
    return;
  }
  await draft.need({
    file: file!,
    edit: (code) => editContextType(code, kind === "inline" ? undefined : name),
    lines: "address?: string | undefined;",
  });
  for (const maker of makers) await wireMaker(draft, app, maker, false);
  if (makers.length === 0) {
    const lines = addressLines("createContext", "", { packages: new Set(), runtime: "unknown" });
    draft.byHand("the file that makes the context", "it was not found", lines);
  }
}

/** @param isNeeded whether the key reads an address that only this maker puts into the context. */
async function wireMaker(
  draft: Draft,
  { servers }: Application,
  { member, file, name }: Maker,
  isNeeded: boolean,
): Promise<void> {
  const runtimes = new Set((servers.length === 0 ? [member] : servers).map(runtimeOf));
  const [runtime = "unknown", ...others] = runtimes;
  const server = {
    packages: member.packages,
    runtime: others.length > 0 ? ("unknown" as const) : runtime,
  };
  const step = {
    file,
    edit: (code: Code) => editCreateContext(code, name, server),
    lines: addressLines(name ?? "createContext", (await draft.read(file)) ?? "", server),
  };
  const isDone = await (isNeeded ? draft.need(step) : draft.edit(step));
  if (((await draft.read(file)) ?? "").includes("clientAddress(")) draft.note(PROXIES);
  const host = "@hono/node-server";
  if (!isDone || member.packages.has(host)) return;
  if (!((await draft.read(file)) ?? "").includes(`${host}/conninfo`)) return;
  const range = servers.map(({ ranges }) => ranges[host]).find(Boolean);
  await addDependency(draft, member, host, range!);
}

async function wireRouter({
  draft,
  project,
  trpc: { present, file: own },
}: ServerPlan): Promise<void> {
  const trpcFile = present ?? own;
  const found = findInCode(project.api, /\b(appRouter|AppRouter)\b/, routerIn);
  const lines = `// In the router of the application, with rateLimitRouter of ${trpcFile}:\nrateLimit: rateLimitRouter,`;
  if (found === undefined) {
    if (present !== undefined) return;
    draft.byHand("the file of your router", "it was not found", lines);
    return;
  }
  const { file, code } = found;
  if (propertyOf(found.found, "rateLimit") !== undefined) return draft.seen(file);
  // Import in the form that the file already uses: with an alias, or an ending.
  const from =
    file === trpcFile
      ? undefined
      : (importedFrom(code, "publicProcedure") ??
        importedFrom(code, "createTRPCRouter") ??
        specifierOfFile(project, file, trpcFile));
  await draft.need({ file, edit: (each) => editRouter(each, from), lines });
}

/** Passes the database to the limits, in each application that makes the database. */
async function wireDatabase(
  { draft, project, limits }: ServerPlan,
  { factory, file: own }: Extract<Database, { kind: "made" }>,
): Promise<void> {
  const hint = new RegExp(String.raw`\b${factory}\s*\(`);
  const found = project.users.flatMap((member) => {
    const call = findInCode(member, hint, (code) =>
      code.file !== own && callsOf(code.program, factory).length > 0 ? true : undefined,
    );
    return call === undefined ? [] : [call.file];
  });
  const linesIn = (
    file: string,
  ) => `${importText(specifierOfFile(project, file, limits), ["keepLimitsIn"])}

// After the database is made, before the first call arrives:
keepLimitsIn(db);`;
  for (const file of found) {
    if (/\bkeepLimitsIn\(/.test((await draft.read(file)) ?? "")) draft.seen(file);
    else {
      const from = specifierOfFile(project, file, limits);
      await draft.need({
        file,
        edit: (code) => editServices(code, factory, from),
        lines: linesIn(file),
      });
    }
  }
  if (found.length === 0) {
    const why = `no call of ${factory} was found`;
    draft.byHand("the file that makes the database", why, linesIn(own));
  }
}

async function wireHandlers({ draft, project }: ServerPlan): Promise<void> {
  for (const { file } of handlersOf(project)) {
    if (/\brateLimitResponseMeta\b/.test((await draft.read(file)) ?? "")) draft.seen(file);
    else {
      const lines = handlerLines(await draft.readCode(file));
      await draft.edit({ file, edit: editHandler, lines });
    }
  }
}
