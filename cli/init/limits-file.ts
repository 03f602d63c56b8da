/** Writes `limits.ts`: the application's limiter, with one limit to begin with. */
import { type Application, findSource, limitsFileOf } from "./application.js";
import { inStyle } from "./code-style.js";
import { type DatabaseClient, findClient } from "./database-client.js";
import { propose } from "./editable.js";
import { readText } from "./files.js";
import { specifierOf } from "./import-style.js";
import { importText } from "./import-text.js";
import { indented } from "./anchors.js";
import { openClient, type OpenedClient } from "./open-client.js";
import type { ByHand, Change } from "./plan.js";
import type { Storage } from "./storage.js";

export interface LimitsFile {
  file: string;
  change: Change | undefined;
  byHand: ByHand | undefined;
  isPresent: boolean;
}

export async function planLimits(app: Application, storage: Storage): Promise<LimitsFile> {
  const file = await limitsFileOf(app);
  const present = await findSource(app.root, app.sources, /\bcreateRateLimiter\(/);
  if (present !== undefined) {
    return { file: present, change: undefined, byHand: undefined, isPresent: true };
  }
  const before = await readText(app.root, file);
  const client = await findClient(app, storage);
  const opened = client === undefined ? await openClient(app, storage) : undefined;
  const after = inStyle(limitsText({ app, file, storage, client, opened }), app.style);
  const byHand = (why: string): LimitsFile => {
    return { file, change: undefined, byHand: { file, why, lines: after }, isPresent: false };
  };
  if (before !== undefined) {
    return byHand("there is a file of this name already; put the limits into another one");
  }
  if (storage.kind === "plain" && storage.client === "postgres") {
    return byHand("postgres.js needs the driver that docs/drivers.md of trpc-rate-limit shows");
  }
  if (storage.kind !== "memory" && client === undefined && opened === undefined) {
    return byHand("no exported database client was found; import yours as `db`");
  }
  return { file, ...(await propose(app.root, { file, before, after }, after)), isPresent: false };
}

interface LimitsText {
  app: Application;
  file: string;
  storage: Storage;
  client: DatabaseClient | undefined;
  opened: OpenedClient | undefined;
}

/** A store's constructor, and the entry that has it. */
interface Store {
  call: string;
  name: string;
  from: string;
}

export function storeOf(storage: Storage, db: string): Store {
  const from = "trpc-rate-limit/server";
  if (storage.kind === "memory") return { call: "memoryStore()", name: "memoryStore", from };
  if (storage.kind === "drizzle") {
    const call = `drizzleStore(${db}, { table: ${storage.table.name} })`;
    return { call, name: "drizzleStore", from: "trpc-rate-limit/drizzle" };
  }
  if (storage.kind === "kysely") {
    return { call: `kyselyStore(${db})`, name: "kyselyStore", from: "trpc-rate-limit/kysely" };
  }
  if (storage.kind === "prisma") {
    const model = storage.model === "RateLimit" ? "" : `, { model: "${storage.model}" }`;
    return { call: `prismaStore(${db}${model})`, name: "prismaStore", from };
  }
  if (storage.client === "postgres") {
    return { call: `sqlStore(postgresDriver(${db}))`, name: "sqlStore", from };
  }
  const names = { postgresql: "pgStore", mysql: "mysqlStore", sqlite: "sqliteStore" };
  const name = names[storage.dialect];
  return { call: `${name}(${db})`, name, from };
}

function limitsText({ app, file, storage, client, opened }: LimitsText): string {
  const store = storeOf(storage, client?.name ?? opened?.name ?? "db");
  const own: string[] = [];
  if (client) own.push(importOf(app, file, client.name, client.file, client.isDefault));
  if (storage.kind === "drizzle") {
    own.push(importOf(app, file, storage.table.name, storage.table.file));
  }
  const names = ["createRateLimiter", "MINUTE"];
  if (app.extension === "ts") names.push("type LimitConfigs");
  const packages = opened ? [opened.importLine] : [];
  if (store.from === "trpc-rate-limit/server") names.push(store.name);
  else packages.push(importText(store.from, [store.name]));
  packages.push(importText("trpc-rate-limit/server", names.toSorted(byName)));
  const lines = [
    HEADER[app.kind === "other" ? "http" : "trpc"],
    ...packages,
    ...(own.length > 0 ? ["", ...own] : []),
    ...(opened ? ["", opened.lines] : []),
    "",
    app.extension === "ts" ? `${LIMITS} satisfies LimitConfigs;` : `${LIMITS};`,
    "",
    app.packages.has("next")
      ? keptLimiter(limiterText(app, storage, store), app)
      : `export const limiter = ${limiterText(app, storage, store)};`,
  ];
  return `${lines.join("\n")}\n`;
}

export const HEADER = {
  trpc: `/**
 * The limits of this application. Procedures charge them with \`rateLimited("createPost")\`, and
 * components read them with \`useRateLimit("createPost")\`.
 */`,
  http: `/**
 * The limits of this application. Handlers charge them with \`limiter.limit("createPost", { key })\`.
 */`,
};

/** Apart from the limiter, so that a test can make another limiter with the same limits. */
export const LIMITS = `export const limits = {
  // Three at once, and one more every six seconds.
  createPost: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
}`;

const MEMORY = "  // In the memory of one process. Use another store if there are several.\n";
export const PRUNE = `  // Addresses are many: deletes the rows that are full again, now and then.
  autoPrune: true,
`;

function limiterText({ kind }: Application, storage: Storage, { call }: Store): string {
  // Where init shows ipKey, there is a row for each visitor.
  return `createRateLimiter({
${storage.kind === "memory" ? MEMORY : ""}  store: ${call},
  limits,
${kind === "trpc" ? "" : PRUNE}})`;
}

/** The form of docs/next.md. */
export function keptLimiter(
  limiter: string,
  { extension }: Pick<Application, "extension">,
): string {
  const type = ` as unknown as {
  limiter: ReturnType<typeof createLimiter> | undefined;
}`;
  return `const createLimiter = () =>
${indented(limiter, "  ")};

/**
 * Next bundles route handlers and pages apart, and loads this file again after a change. Without
 * this, each would have its own limiter. Restart the server after a change of the limits.
 */
const globalForLimiter = globalThis${extension === "ts" ? type : ""};

export const limiter = (globalForLimiter.limiter ??= createLimiter());`;
}

function importOf(
  { imports }: Application,
  from: string,
  name: string,
  file: string,
  isDefault = false,
): string {
  const specifier = specifierOf(imports, from, file);
  return isDefault ? `import ${name} from "${specifier}";` : importText(specifier, [name]);
}

const sortKeyOf = (name: string) => name.replace(/^type /, "").toLowerCase();
const byName = (a: string, b: string) => (sortKeyOf(a) < sortKeyOf(b) ? -1 : 1);
