/** Wires the server's side of a monorepo: tRPC, its router, its context, and the database. */
import { join } from "node:path";
import { readApplication } from "../application.js";
import { specifierOf } from "../import-style.js";
import { importText } from "../import-text.js";
import type { Draft } from "./draft.js";
import { importsFrom } from "./imports.js";
import type { Database } from "./limits.js";
import {
  editContextType,
  editCreateContext,
  editRouter,
  editServices,
  editTrpcFile,
  section,
} from "./server-edits.js";
import { type Member, sourceWith, specifierTo, type Workspace } from "./workspace.js";

const NAMES = ["createRateLimitTRPC", "formatRateLimitError"];

export async function planServer(
  draft: Draft,
  workspace: Workspace,
  limits: string,
  database: Database,
): Promise<void> {
  const { root, api, trpcFile } = workspace;
  const { imports } = await readApplication(join(root, api.folder));
  const style = { ...imports, alias: undefined };
  const trpc = api.sources.get(trpcFile)!;
  const context = contextOf(api, trpcFile, trpc);
  const hasSession =
    /\bctx\.session\b/.test(trpc) || /\bsession\s*:/.test(api.sources.get(context.file) ?? "");
  const options = { limits: specifierOf(style, trpcFile, limits), hasSession };

  if (sourceWith(api, /\bcreateRateLimitTRPC\(/) !== undefined) draft.seen(trpcFile);
  else {
    // Each of them uses what the one before it adds.
    await draft.need({
      file: trpcFile,
      edit: (text) => editTrpcFile(text, options),
      lines: `${importText("trpc-rate-limit/server", ["ipKey"])}
${importText("trpc-rate-limit/trpc", NAMES)}
${importText(options.limits, ["limiter"])}

// In initTRPC…create({ … }): pass the shape that you return through formatRateLimitError.
errorFormatter: ({ shape, error }) => formatRateLimitError(shape, error, limiter),

// After \`const t\`:
${section(options)}`,
    });
    await planContext(draft, workspace, context);
  }
  await planRouter(draft, api, trpcFile, (from) => specifierOf(style, from, trpcFile));
  if (database.kind === "made") await planServices(draft, workspace, limits, database);
}

interface ContextPlace {
  /** The file with the type, or with the function that the type is inferred from. */
  file: string;
  name: string;
  /** Whether `name` is the function. */
  isInferred: boolean;
}

function contextOf(api: Member, trpcFile: string, trpc: string): ContextPlace {
  const [, inferred, name = "Context"] = /\.context<\s*(typeof\s+)?(\w+)\s*>/.exec(trpc) ?? [];
  const isInferred = inferred !== undefined;
  const declares = isInferred
    ? new RegExp(String.raw`^export\s+(?:async\s+function|function|const)\s+${name}\b`, "m")
    : new RegExp(String.raw`^export\s+(?:type|interface)\s+${name}\b`, "m");
  return { file: sourceWith(api, declares) ?? trpcFile, name, isInferred };
}

const VALUE =
  `address: headers.get("x-forwarded-for")?.split(",").at(-1), ` +
  "// see docs/visitors.md of trpc-rate-limit";

async function planContext(
  draft: Draft,
  { api, users }: Workspace,
  { file, name, isInferred }: ContextPlace,
): Promise<void> {
  const creator = isInferred ? name : "createContext";
  const lines = `// In what ${creator} returns:\n${VALUE}`;
  const isThere = (text: string) => /\baddress\s*[?:]/.test(text);
  if (isInferred) {
    if (isThere((await draft.read(file)) ?? "")) return;
    const edit = (text: string) => editCreateContext(text, name, api.packages);
    await draft.edit({ file, edit, lines });
    return;
  }
  if (!isThere((await draft.read(file)) ?? "")) {
    const edit = (text: string) => editContextType(text, name);
    await draft.edit({ file, edit, lines: "address: string | undefined;" });
  }
  const creators = users.flatMap((user) => {
    const found = sourceWith(user, /\b(?:function|const)\s+createContext\b/);
    return found === undefined ? [] : [{ user, found }];
  });
  for (const { user, found } of creators) {
    if (isThere((await draft.read(found)) ?? "")) continue;
    const edit = (text: string) => editCreateContext(text, "createContext", user.packages);
    await draft.edit({ file: found, edit, lines });
  }
  if (creators.length === 0) {
    draft.byHand("the file that makes the context", "it was not found", lines);
  }
}

async function planRouter(
  draft: Draft,
  api: Member,
  trpcFile: string,
  specifier: (from: string) => string,
): Promise<void> {
  const file = sourceWith(api, /^export const appRouter\b/m);
  const lines = `// In the router of the application, with rateLimitRouter of ${trpcFile}:\nrateLimit: rateLimitRouter,`;
  if (file === undefined) {
    draft.byHand("the file of your router", "it was not found", lines);
    return;
  }
  const text = (await draft.read(file)) ?? "";
  if (/\brateLimit\s*:/.test(text)) return draft.seen(file);
  // As the file imports it already: with an alias, or an ending.
  const from =
    importsFrom(text, "publicProcedure") ??
    importsFrom(text, "createTRPCRouter") ??
    specifier(file);
  await draft.need({ file, edit: (before) => editRouter(before, from), lines });
}

/** Where an application makes the database, it tells the limits of it. */
async function planServices(
  draft: Draft,
  { api, users }: Workspace,
  limits: string,
  { factory, isD1 }: Extract<Database, { kind: "made" }>,
): Promise<void> {
  const from = specifierTo(api, limits) ?? `${api.name}/limits`;
  const makes = new RegExp(String.raw`\b${factory}\s*\(`);
  const lines = `${importText(from, ["keepLimitsIn"])}

// After the database is made, before the first call arrives:
keepLimitsIn(db);`;
  const found = users.flatMap((user) => sourceWith(user, makes) ?? []);
  for (const file of found) {
    if (/\bkeepLimitsIn\(/.test((await draft.read(file)) ?? "")) draft.seen(file);
    else await draft.need({ file, edit: (text) => editServices(text, factory, from, isD1), lines });
  }
  if (found.length === 0) {
    draft.byHand("the file that makes the database", `no call of ${factory} was found`, lines);
  }
}
