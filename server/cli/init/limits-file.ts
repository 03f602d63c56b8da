/** Writes `limits.ts`: the application's limiter, with one limit to begin with. */
import { type Application, findSource, limitsFileOf, specifierOf } from "./application.js";
import { readText } from "./files.js";
import { importText } from "./import-text.js";
import type { ByHand, Change } from "./plan.js";

/** Where the limits are kept. */
export type Storage =
  | { kind: "prisma"; model: string }
  | { kind: "drizzle"; table: { name: string; file: string } }
  | { kind: "memory" };

export interface LimitsFile {
  file: string;
  change: Change | undefined;
  byHand: ByHand | undefined;
  isPresent: boolean;
}

/** The exported database client of the application. */
interface Client {
  name: string;
  file: string;
}

export async function planLimits(app: Application, storage: Storage): Promise<LimitsFile> {
  const file = await limitsFileOf(app);
  const present = await findSource(app.root, app.sources, /\bcreateRateLimiter\(/);
  if (present !== undefined) {
    return { file: present, change: undefined, byHand: undefined, isPresent: true };
  }
  const before = await readText(app.root, file);
  const client = storage.kind === "memory" ? undefined : await findClient(app, storage.kind);
  const after = limitsText(app, file, storage, client);
  if (before !== undefined) {
    const why = "there is a file of this name already; put the limits into another one";
    return { file, change: undefined, byHand: { file, why, lines: after }, isPresent: false };
  }
  if (storage.kind !== "memory" && client === undefined) {
    const why = "no exported database client was found; import yours as `db`";
    return { file, change: undefined, byHand: { file, why, lines: after }, isPresent: false };
  }
  return { file, change: { file, before, after }, byHand: undefined, isPresent: false };
}

const CREATES = { prisma: /\bnew PrismaClient\b/, drizzle: /\bdrizzle\(/ };
const NAMES = ["db", "prisma", "prismaClient", "database", "client"];

async function findClient(
  app: Application,
  kind: "prisma" | "drizzle",
): Promise<Client | undefined> {
  for (const file of app.sources) {
    if (/\.(test|spec)\.|(^|\/)(seed|tests?|scripts)\b/.test(file)) continue;
    const text = (await readText(app.root, file)) ?? "";
    if (!CREATES[kind].test(text)) continue;
    const exported = new Set(
      [...text.matchAll(/^export (?:const|let|var) (\w+)/gm)].map(([, name]) => name!),
    );
    const name = NAMES.find((usual) => exported.has(usual));
    if (name !== undefined) return { name, file };
  }
  return undefined;
}

function limitsText(
  app: Application,
  file: string,
  storage: Storage,
  client: Client | undefined,
): string {
  const db = client?.name ?? "db";
  const own = client === undefined ? [] : [importOf(app, file, client.name, client.file)];
  const names = ["createRateLimiter", "MINUTE"];
  let store = "memoryStore()";
  const packages: string[] = [];
  if (storage.kind === "prisma") {
    names.push("prismaStore");
    const model = storage.model === "RateLimit" ? "" : `, { model: "${storage.model}" }`;
    store = `prismaStore(${db}${model})`;
  } else if (storage.kind === "drizzle") {
    packages.push(importText("trpc-rate-limit/drizzle", ["drizzleStore"]));
    store = `drizzleStore(${db}, { table: ${storage.table.name} })`;
    own.push(importOf(app, file, storage.table.name, storage.table.file));
  } else {
    names.splice(1, 0, "memoryStore");
  }
  packages.push(importText("trpc-rate-limit/server", names));
  const memory = "  // In the memory of one process. Use another store if there are several.\n";
  return `/**
 * The limits of this application. Procedures charge them with \`rateLimited("createPost")\`, and
 * components read them with \`useRateLimit("createPost")\`.
 */
${[...packages, ...(own.length > 0 ? ["", ...own] : [])].join("\n")}

export const limiter = createRateLimiter({
${storage.kind === "memory" ? memory : ""}  store: ${store},
  limits: {
    // Three at once, and one more every six seconds.
    createPost: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
  },
});
`;
}

function importOf(app: Application, from: string, name: string, file: string): string {
  return importText(specifierOf(app, from, file), [name]);
}
