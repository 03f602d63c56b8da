/** Writes `limits.ts` of the API's package, and finds the database that it keeps the limits in. */
import { indented } from "../anchors.js";
import { readApplication } from "../application.js";
import { codeStyleOf, inStyle } from "../code-style.js";
import { findClient } from "../database-client.js";
import { importText } from "../import-text.js";
import { specifierOf } from "../import-style.js";
import { HEADER, keptLimiter, LIMITS, PRUNE, storeOf } from "../limits-file.js";
import type { Storage } from "../storage.js";
import { join } from "node:path";
import { type Member, specifierTo, type Workspace } from "./workspace.js";

/** Where the database client is. */
export type Database =
  | { kind: "exported"; name: string; from: string }
  /** An application calls the function, and tells the limits of what it has made. */
  | { kind: "made"; factory: string; type: string; from: string; isD1: boolean }
  | { kind: "none" };

const FACTORY = /^export (?:async )?function (\w+)\s*\(/gm;
const CLIENTS = { prisma: /\bnew PrismaClient\b/, drizzle: /\bdrizzle(?:Pg)?\(/ };

export async function findDatabaseOf(
  { root, api }: Workspace,
  db: Member,
  storage: Extract<Storage, { kind: "prisma" | "drizzle" }>,
): Promise<Database> {
  const app = await readApplication(join(root, db.folder));
  const client = await findClient(app, storage);
  if (client !== undefined) {
    const file = `${db.folder}/${client.file}`;
    const from = fromOf(api, db, file);
    if (from !== undefined) return { kind: "exported", name: client.name, from };
  }
  for (const [file, text] of db.sources) {
    if (!CLIENTS[storage.kind].test(text)) continue;
    const [, factory] = [...text.matchAll(FACTORY)].at(-1) ?? [];
    const from = fromOf(api, db, file);
    if (factory === undefined || from === undefined) continue;
    const type = /^export type Database\b/m.test(text)
      ? "Database"
      : `ReturnType<typeof ${factory}>`;
    return { kind: "made", factory, type, from, isD1: usesD1(text) };
  }
  return { kind: "none" };
}

/** Whether Drizzle's database is on Cloudflare D1, which lives on Workers. */
function usesD1(text: string): boolean {
  return /["']drizzle-orm\/d1["']/.test(text);
}

const ON_WORKERS = `  // Call limiter.prune() from a Cron Trigger: it deletes the rows that are full again.
`;

function fromOf(api: Member, db: Member, file: string): string | undefined {
  return api === db ? undefined : specifierTo(db, file);
}

export interface LimitsText {
  workspace: Workspace;
  file: string;
  storage: Storage;
  database: Database;
  /** The package of the table's file. */
  tableOf: Member | undefined;
}

export async function limitsText(options: LimitsText): Promise<string> {
  const { workspace, file, storage, database, tableOf } = options;
  const { api, root, users } = workspace;
  const app = await readApplication(join(root, api.folder));
  const isMade = database.kind === "made";
  const store = storeOf(
    storage,
    isMade ? "database" : database.kind === "none" ? "db" : database.name,
  );
  const own: string[] = [];
  if (database.kind === "exported") own.push(importText(database.from, [database.name]));
  if (isMade) {
    const name = database.type === "Database" ? "Database" : database.factory;
    own.push(`import type { ${name} } from "${database.from}";`);
  }
  if (storage.kind === "drizzle") {
    const { name, file: table } = storage.table;
    const from =
      (tableOf && tableOf !== api ? specifierTo(tableOf, table) : undefined) ??
      specifierOf({ ...app.imports, alias: undefined }, file, table);
    own.push(importText(from, [name]));
  }
  const names = ["createRateLimiter", ...(isMade ? ["lazyStore"] : []), "MINUTE"];
  const packages: string[] = [];
  if (store.from === "trpc-rate-limit/server") names.push(store.name);
  else packages.push(importText(store.from, [store.name]));
  const all = [...names.toSorted(byName), "type LimitConfigs"];
  packages.push(importText("trpc-rate-limit/server", all));
  const call = isMade ? lazy(store.call) : store.call;
  const memory =
    storage.kind === "memory"
      ? "  // In the memory of one process. Use another store if there are several.\n"
      : "";
  const limiter = `createRateLimiter({\n${memory}  store: ${call},\n  limits,\n${isMade && database.isD1 ? ON_WORKERS : PRUNE}})`;
  const isNext = users.some(
    ({ packages: used, sources }) =>
      used.has("next") &&
      [...sources.values()].some((text) => text.includes("fetchRequestHandler")),
  );
  const lines = [
    HEADER.trpc,
    ...packages,
    ...(own.length > 0 ? ["", ...own] : []),
    "",
    ...(isMade ? [KEEP(database.type), ""] : []),
    `${LIMITS} satisfies LimitConfigs;`,
    "",
    isNext ? keptLimiter(limiter, { extension: "ts" }) : `export const limiter = ${limiter};`,
  ];
  const text = api.sources.get(workspace.trpcFile) ?? "";
  return inStyle(`${lines.join("\n")}\n`, codeStyleOf(text));
}

const KEEP = (type: string) => `let database: ${type} | undefined;

/** The server calls it where it makes its database. The limits are in that database. */
export function keepLimitsIn(db: ${type}): void {
  database = db;
}`;

function lazy(call: string): string {
  const body = `if (database === undefined) throw new Error("call keepLimitsIn(db) at the start of the server");
return ${call};`;
  return `lazyStore(() => {\n${indented(body, "    ")}\n  })`;
}

const byName = (a: string, b: string) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1);
