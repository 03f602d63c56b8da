/** Wires the server's side: tRPC, the context, the router, the handlers, and the database. */
import {
  addressLines,
  editContextType,
  editCreateContext,
  editServices,
  inlineCreator,
} from "./edits/context.js";
import { editHandler, HANDLER_HINT, HANDLER_LINES, handlerIn } from "./edits/server.js";
import { editRouter, editTrpcFile, routerIn, trpcLines } from "./edits/trpc.js";
import { callerOf } from "./caller.js";
import { importedFrom, importText } from "./code/imports.js";
import { bare, callsOf, declaredIn, isFunction, propertyOf } from "./code/syntax.js";
import type { Code } from "./code/code.js";
import { type Context, contextOf } from "./context.js";
import type { Database } from "./database.js";
import type { Draft } from "./draft.js";
import { specifierOfFile } from "./limits-file.js";
import { findInCode, type Member, sourceWith } from "./member.js";
import type { Project } from "./project.js";

export interface ServerOptions {
  draft: Draft;
  project: Project;
  limits: string;
  database: Database;
}

const NO_CONTEXT: Context = {
  kind: "unknown",
  file: undefined,
  name: "createContext",
  fields: new Map(),
};

export async function wireServer(options: ServerOptions): Promise<void> {
  const { draft, project, limits, database } = options;
  const { api, trpcFile } = project;
  if (trpcFile === undefined) return;
  const present = sourceWith(api, /\bcreateRateLimitTRPC\(/);
  if (present !== undefined) draft.seen(present);
  else {
    const trpc = await draft.readCode(trpcFile);
    const context = trpc ? contextOf(project, trpc) : NO_CONTEXT;
    const caller = callerOf(project, context);
    const section = { limits: specifierOfFile(project, trpcFile, limits), caller };
    const isKnown = !caller.needsAddress || context.file !== undefined;
    await draft.need({
      file: trpcFile,
      edit: (code) => isKnown && editTrpcFile(code, section),
      lines: (context.kind === "none" ? CONTEXT_LINES : "") + trpcLines(section),
      ...(context.kind === "none" && { why: "its context does not say who calls" }),
    });
    if (caller.needsAddress && isKnown) await wireContext(options, context);
  }
  await wireRouter(options, present);
  if (database.kind === "made") await wireDatabase(options, database);
  await wireHandlers(options);
}

const CONTEXT_LINES = `// The context says who calls. In the file of the handler, return it from createContext:
// { address } is \`req.ip\` of Express and Fastify, or \`req.socket.remoteAddress\` of Node.js;
// see docs/visitors.md of trpc-rate-limit.
initTRPC.context<{ address: string | undefined }>()

`;

async function wireContext({ draft, project }: ServerOptions, context: Context): Promise<void> {
  const { file, name, kind } = context;
  const wireCreator = async (member: Member, found: string, creator?: string) => {
    const lines = addressLines(
      creator ?? "createContext",
      (await draft.read(found)) ?? "",
      member.packages,
    );
    const edit = (code: Code) => editCreateContext(code, creator, member.packages);
    await draft.edit({ file: found, edit, lines });
  };
  if (kind === "function") return wireCreator(project.api, file!, name);
  await draft.edit({
    file: file!,
    edit: (code) => editContextType(code, kind === "inline" ? undefined : name),
    lines: "address: string | undefined;",
  });
  const creators = project.users.flatMap((member) => {
    // A handler may call the function of another file.
    const named = findInCode(member, HINT, creatorIn);
    const made =
      named ?? findInCode(member, HINT, (code) => inlineCreator(code) && { name: undefined });
    return made === undefined ? [] : [{ member, file: made.file, name: made.found.name }];
  });
  for (const each of creators) await wireCreator(each.member, each.file, each.name);
  if (creators.length === 0) {
    const lines = addressLines("createContext", "", new Set());
    draft.byHand("the file that makes the context", "it was not found", lines);
  }
}

const HINT = /\bcreate\w*Context\b/;

/** The function of the file that makes the context, by its usual names. */
function creatorIn({ program }: Code): { name: string | undefined } | undefined {
  return declaredIn(program).find(
    ({ name, value }) => /^create\w*Context$/.test(name) && isFunction(value && bare(value)),
  );
}

/**
 * @param present the file in which tRPC is wired already. Its author may have put the router anywhere.
 */
async function wireRouter(
  { draft, project }: ServerOptions,
  present: string | undefined,
): Promise<void> {
  const trpcFile = present ?? project.trpcFile!;
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
  { draft, project, limits }: ServerOptions,
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

/** The files that serve tRPC, each with its package. */
export function handlersOf({ users, api }: Project): { member: Member; file: string }[] {
  const members = [...new Set([...users, api])];
  return members.flatMap((member) => {
    const found = findInCode(member, HANDLER_HINT, handlerIn);
    return found === undefined ? [] : [{ member, file: found.file }];
  });
}

async function wireHandlers({ draft, project }: ServerOptions): Promise<void> {
  for (const { file } of handlersOf(project)) {
    if (/\brateLimitResponseMeta\b/.test((await draft.read(file)) ?? "")) draft.seen(file);
    else await draft.edit({ file, edit: editHandler, lines: HANDLER_LINES });
  }
}
