/** Writes `limits.ts`: the application's limiter, with one limit to begin with. */
import { indented } from "../code/code.js";
import { codeStyleOf, inStyle } from "../code/code-style.js";
import { byName, importText } from "../code/imports.js";
import type { DatabaseFacts } from "../facts/database.js";
import { type Client, clientName } from "../facts/find-client.js";
import type { Draft } from "../draft.js";
import { sourceWith } from "../facts/member.js";
import type { Project } from "../facts/project.js";
import { specifierOfFile } from "../facts/specifiers.js";
import { storeOf } from "../facts/storage.js";

interface LimitsOptions {
  project: Project;
  file: string;
  database: DatabaseFacts;
}

export async function addLimits(draft: Draft, options: LimitsOptions): Promise<void> {
  const { file, database } = options;
  const { client, storage } = database;
  const text = limitsText(options);
  const isComplete = storage.kind === "memory" || client.kind !== "none";
  const driver = storage.kind === "plain" && storage.client === "postgres";
  if (client.kind === "none" && client.hidden !== undefined) {
    const { hidden } = client;
    draft.byHand(hidden.file, hidden.why, hidden.lines);
  }
  if (!isComplete || driver) {
    const why = driver
      ? "postgres.js needs the driver that docs/drivers.md of trpc-rate-limit shows"
      : client.kind === "none" && client.hidden !== undefined
        ? `it comes after ${client.hidden.file}`
        : "no exported database client was found; import yours as `db`";
    draft.byHand(file, why, text);
    draft.stop(`it comes after ${file}`);
    return;
  }
  const ifExists = "there is a file of this name already; put the limits into another one";
  if (!(await draft.create(file, text, ifExists))) draft.stop(`it comes after ${file}`);
}

function limitsText(options: LimitsOptions): string {
  const { project, database } = options;
  const { storage, client } = database;
  const { api } = project;
  const isTyped = api.extension === "ts";
  const store = storeOf(storage, clientName(client));
  const isLazy = client.kind === "made" || client.kind === "opened";
  const names = [
    "createRateLimiter",
    "MINUTE",
    ...(isLazy ? ["lazyStore"] : []),
    ...(isTyped ? ["type LimitConfigs"] : []),
  ];
  const packages: string[] = [];
  if (store.from === "trpc-rate-limit/server") names.push(store.name);
  else packages.push(importText(store.from, [store.name]));
  packages.push(importText("trpc-rate-limit/server", names.toSorted(byName)));
  const own = ownImports(options);
  const limiter = limiterText(database, lazily(client, store.call));
  const lines = [
    HEADER[project.trpcFile === undefined ? "http" : "trpc"],
    ...packages,
    ...(own.length > 0 ? ["", ...own] : []),
    "",
    ...(client.kind === "made" ? [KEEP(client.type, isTyped), ""] : []),
    isTyped ? `${LIMITS} satisfies LimitConfigs;` : `${LIMITS};`,
    "",
    isKept(project) ? keptLimiter(limiter, isTyped) : `export const limiter = ${limiter};`,
  ];
  const near = api.sources.get(project.trpcFile ?? "");
  const style = near === undefined ? api.style : codeStyleOf(near);
  return inStyle(`${lines.join("\n")}\n`, style);
}

/** The imports of the database client and of the table. */
function ownImports({ project, file, database: { client, storage } }: LimitsOptions): string[] {
  const from = (target: string, name: string) => specifierOfFile(project, file, target, name);
  const lines: string[] = [];
  if (client.kind === "exported") {
    const { name, isDefault, file: target } = client;
    const specifier = from(target, name);
    lines.push(isDefault ? `import ${name} from "${specifier}";` : importText(specifier, [name]));
  }
  if (client.kind === "none" && client.hidden !== undefined) {
    const name = clientName(client);
    lines.push(importText(from(client.hidden.file, name), [name]));
  }
  if (client.kind === "opened") {
    lines.push(importText(from(client.file, client.factory), [client.factory]));
  }
  if (client.kind === "made" && project.api.extension === "ts") {
    const name = client.type === "Database" ? "Database" : client.factory;
    lines.push(`import type { ${name} } from "${from(client.file, name)}";`);
  }
  if (storage.kind === "drizzle") {
    const { name, file: target } = storage.table;
    lines.push(importText(from(target, name), [name]));
  }
  return lines;
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

function limiterText({ storage, client }: DatabaseFacts, store: string): string {
  const isOnWorkers = client.kind === "made" && client.isD1;
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

function lazily({ kind }: Client, call: string): string {
  if (kind === "opened") return `lazyStore(() => ${call})`;
  if (kind !== "made") return call;
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
