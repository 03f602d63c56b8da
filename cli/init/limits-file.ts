/** Writes `limits.ts`: the application's limiter, with one limit to begin with. */
import { indented } from "./code/code.js";
import { codeStyleOf, inStyle } from "./code/code-style.js";
import { byName, importText } from "./code/imports.js";
import type { Database } from "./database.js";
import type { Draft } from "./draft.js";
import { isFolder } from "./files.js";
import { inFolder, type Member, sourceWith, specifierInside, specifierTo } from "./member.js";
import type { Project } from "./project.js";
import { openClient, type OpenedClient, type Storage, storeOf } from "./storage.js";

export interface LimitsOptions {
  project: Project;
  file: string;
  storage: Storage;
  database: Database;
}

/** The file that has the limiter already. */
export function presentLimits({ api }: Project): string | undefined {
  return sourceWith(api, /\bcreateRateLimiter\(/);
}

/** The file for the limits: beside tRPC, or in a folder that seems to have the server's code. */
export async function limitsFileOf({ root, api, trpcFile }: Project): Promise<string> {
  const name = `limits.${api.extension}`;
  if (trpcFile !== undefined) return trpcFile.replace(/[^/]*$/, name);
  for (const folder of ["src/server", "server"]) {
    if (await isFolder(root, inFolder(api, folder))) return inFolder(api, `${folder}/${name}`);
  }
  const isFlat = [...api.sources.keys()].some((file) => /^src\/[^/]+$/.test(file));
  // In an application of Next, src has files of Next, such as src/middleware.ts.
  if (isFlat && !api.packages.has("next")) return `src/${name}`;
  return (await isFolder(root, "src")) ? `src/server/${name}` : `server/${name}`;
}

export async function addLimits(draft: Draft, options: LimitsOptions): Promise<void> {
  const { project, file, storage, database } = options;
  const opened = database.kind === "none" ? openClient(project.api, storage) : undefined;
  const text = limitsText(options, opened);
  const why = whyByHand(storage, database, opened);
  if (why !== undefined) {
    draft.byHand(file, why, text);
    draft.stop(`it comes after ${file}`);
    return;
  }
  const ifExists = "there is a file of this name already; put the limits into another one";
  if (!(await draft.create(file, text, ifExists))) draft.stop(`it comes after ${file}`);
}

function whyByHand(
  storage: Storage,
  database: Database,
  opened: OpenedClient | undefined,
): string | undefined {
  if (storage.kind === "plain" && storage.client === "postgres") {
    return "postgres.js needs the driver that docs/drivers.md of trpc-rate-limit shows";
  }
  if (storage.kind !== "memory" && database.kind === "none" && opened === undefined) {
    return "no exported database client was found; import yours as `db`";
  }
  return undefined;
}

function limitsText(options: LimitsOptions, opened: OpenedClient | undefined): string {
  const { project, storage, database } = options;
  const { api } = project;
  const isTyped = api.extension === "ts";
  const store = storeOf(storage, clientName(database, opened));
  const isLazy = database.kind === "made" || database.kind === "opened";
  const names = [
    "createRateLimiter",
    "MINUTE",
    ...(isLazy ? ["lazyStore"] : []),
    ...(isTyped ? ["type LimitConfigs"] : []),
  ];
  const packages = opened ? [opened.importLine] : [];
  if (store.from === "trpc-rate-limit/server") names.push(store.name);
  else packages.push(importText(store.from, [store.name]));
  packages.push(importText("trpc-rate-limit/server", names.toSorted(byName)));
  const own = ownImports(options);
  const limiter = limiterText(options, lazily(database, store.call));
  const lines = [
    HEADER[project.trpcFile === undefined ? "http" : "trpc"],
    ...packages,
    ...(own.length > 0 ? ["", ...own] : []),
    ...(opened ? ["", opened.lines] : []),
    "",
    ...(database.kind === "made" ? [KEEP(database.type, isTyped), ""] : []),
    isTyped ? `${LIMITS} satisfies LimitConfigs;` : `${LIMITS};`,
    "",
    isKept(project) ? keptLimiter(limiter, isTyped) : `export const limiter = ${limiter};`,
  ];
  const near = api.sources.get(project.trpcFile ?? "");
  const style = near === undefined ? api.style : codeStyleOf(near);
  return inStyle(`${lines.join("\n")}\n`, style);
}

/** The expression that is the database client in the file of the limits. */
export function clientName(database: Database, opened?: OpenedClient): string {
  if (database.kind === "exported") return database.name;
  if (database.kind === "opened") return `${database.factory}()`;
  return database.kind === "made" ? "database" : (opened?.name ?? "db");
}

/** The imports of the database client and of the table. */
function ownImports({ project, file, storage, database }: LimitsOptions): string[] {
  const from = (target: string) => specifierOfFile(project, file, target);
  const lines: string[] = [];
  if (database.kind === "exported") {
    const { name, isDefault, file: target } = database;
    const specifier = from(target);
    lines.push(isDefault ? `import ${name} from "${specifier}";` : importText(specifier, [name]));
  }
  if (database.kind === "opened") lines.push(importText(from(database.file), [database.factory]));
  if (database.kind === "made" && project.api.extension === "ts") {
    const name = database.type === "Database" ? "Database" : database.factory;
    lines.push(`import type { ${name} } from "${from(database.file)}";`);
  }
  if (storage.kind === "drizzle") {
    lines.push(importText(from(storage.table.file), [storage.table.name]));
  }
  return lines;
}

/** The specifier by which a file of the project imports another file. */
export function specifierOfFile({ members }: Project, from: string, to: string): string {
  const [a, b] = [memberOf(members, from), memberOf(members, to)];
  if (a === b) return specifierInside(a, from, to);
  return specifierTo(b, to) ?? b.name;
}

export function memberOf(members: readonly Member[], file: string): Member {
  const inside = members.filter(({ folder }) => folder === "" || file.startsWith(`${folder}/`));
  return inside.toSorted((a, b) => b.folder.length - a.folder.length)[0] ?? members[0]!;
}

const HEADER = {
  trpc: `/**
 * The limits of this application. Procedures charge them with \`rateLimited("createPost")\`, and
 * components read them with \`useRateLimit("createPost")\`.
 */`,
  http: `/**
 * The limits of this application. Handlers charge them with \`limiter.limit("createPost", { key })\`.
 */`,
};

/**
 * The limits are a constant of their own, so that a test can make another limiter with the same limits.
 */
const LIMITS = `export const limits = {
  // Three at once, and one more every six seconds.
  createPost: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
}`;

const MEMORY = "  // In the memory of one process. Use another store if there are several.\n";
const PRUNE = `  // Addresses are many: deletes the rows that are full again, now and then.
  autoPrune: true,
`;
const ON_WORKERS = `  // Call limiter.prune() from a Cron Trigger: it deletes the rows that are full again.
`;

function limiterText({ storage, database }: LimitsOptions, store: string): string {
  const isOnWorkers = database.kind === "made" && database.isD1;
  return `createRateLimiter({
${storage.kind === "memory" ? MEMORY : ""}  store: ${store},
  limits,
${isOnWorkers ? ON_WORKERS : PRUNE}})`;
}

const KEEP = (
  type: string,
  isTyped: boolean,
) => `let database${isTyped ? `: ${type} | undefined` : ""};

/** The server calls it where it makes its database. The limits are in that database. */
export function keepLimitsIn(db${isTyped ? `: ${type}` : ""})${isTyped ? ": void" : ""} {
  database = db;
}`;

function lazily(database: Database, call: string): string {
  if (database.kind === "opened") return `lazyStore(() => ${call})`;
  if (database.kind !== "made") return call;
  const body = `if (database === undefined) throw new Error("call keepLimitsIn(db) at the start of the server");
return ${call};`;
  return `lazyStore(() => {\n${indented(body, "    ")}\n  })`;
}

/**
 * Whether Next serves the limits, by its own handlers or through tRPC. Next then keeps the limiter on
 * `globalThis`.
 */
function isKept({ users, api, trpcFile }: Project): boolean {
  if (users.length === 1 && users[0] === api) return api.packages.has("next");
  return users.some(
    (user) =>
      user.packages.has("next") &&
      trpcFile !== undefined &&
      sourceWith(user, /\bfetchRequestHandler\b/) !== undefined,
  );
}

/** The code of a limiter that is kept on `globalThis`, as in docs/next.md. */
function keptLimiter(limiter: string, isTyped: boolean): string {
  const type = ` as unknown as {
  limiter: ReturnType<typeof createLimiter> | undefined;
}`;
  return `const createLimiter = () =>
${indented(limiter, "  ")};

/**
 * Next bundles route handlers and pages apart, and loads this file again after a change. Without
 * this, each would have its own limiter. Restart the server after a change of the limits.
 */
const globalForLimiter = globalThis${isTyped ? type : ""};

export const limiter = (globalForLimiter.limiter ??= createLimiter());`;
}
