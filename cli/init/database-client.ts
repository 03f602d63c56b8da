/** Finds the database client that the application exports. */
import { type Application } from "./application.js";
import { readText } from "./files.js";
import type { Storage } from "./storage.js";

export interface DatabaseClient {
  name: string;
  file: string;
  isDefault: boolean;
}

interface Pattern {
  /** How a client is made, in a file that imports `from`. */
  creates: string;
  from: string;
}

const PATTERNS: Record<string, Pattern> = {
  pg: { creates: String.raw`new\s+(?:\w+\.)?Pool\b`, from: "pg" },
  mysql2: { creates: String.raw`(?:\w+\.)?createPool\s*\(`, from: "mysql2(?:/promise)?" },
  mariadb: { creates: String.raw`(?:\w+\.)?createPool\s*\(`, from: "mariadb" },
  "better-sqlite3": { creates: String.raw`new\s+\w+\s*\(`, from: "better-sqlite3" },
  "@libsql/client": { creates: String.raw`createClient\s*\(`, from: "@libsql/client(?:/\\w+)?" },
  "node:sqlite": { creates: String.raw`new\s+(?:\w+\.)?DatabaseSync\b`, from: "node:sqlite" },
  postgres: { creates: String.raw`postgres\s*\(`, from: "postgres" },
  kysely: { creates: String.raw`new\s+Kysely\b`, from: "kysely" },
};

const ORMS = { prisma: /\bnew PrismaClient\b/, drizzle: /\bdrizzle\(/ };
const NAMES = ["db", "prisma", "prismaClient", "database", "client"];
const OF_TESTS = /\.(test|spec)\.|(^|\/)(seed|tests?|scripts)\b/;

export async function findClient(
  app: Application,
  storage: Storage,
): Promise<DatabaseClient | undefined> {
  for (const file of app.sources) {
    if (OF_TESTS.test(file)) continue;
    const text = (await readText(app.root, file)) ?? "";
    const found =
      storage.kind === "prisma" || storage.kind === "drizzle"
        ? exportedByName(text, ORMS[storage.kind])
        : storage.kind === "memory"
          ? undefined
          : exportedDirectly(text, PATTERNS[storage.kind === "plain" ? storage.client : "kysely"]!);
    if (found !== undefined) return { ...found, file };
  }
  return undefined;
}

type Exported = Omit<DatabaseClient, "file">;

/** An ORM's client may be made by a function first, and kept over a reload. */
function exportedByName(text: string, creates: RegExp): Exported | undefined {
  if (!creates.test(text)) return undefined;
  const exported = new Set(
    [...text.matchAll(/^export (?:const|let|var) (\w+)/gm)].map(([, name]) => name!),
  );
  const name = NAMES.find((usual) => exported.has(usual));
  return name === undefined ? undefined : { name, isDefault: false };
}

/** The constant itself has to be the client: one of the usual names may well be something else. */
function exportedDirectly(text: string, { creates, from }: Pattern): Exported | undefined {
  if (!new RegExp(`["']${from}["']`).test(text)) return undefined;
  const made = new RegExp(
    String.raw`^(export\s+)?(?:const|let|var)\s+(\w+)(?:\s*:\s*[\w.<>, ]+)?\s*=\s*(?:await\s+)?${creates}`,
    "m",
  ).exec(text);
  if (made === null) return undefined;
  const [, isExported, name] = made as unknown as [string, string | undefined, string];
  const has = (pattern: string) => new RegExp(pattern, "m").test(text);
  if (
    isExported ||
    has(String.raw`^export\s*\{[^}]*\b${name}\b(?!\s+as\b)`) ||
    has(String.raw`^module\.exports\s*=\s*\{[^}]*\b${name}\b(?!\s*:)`) ||
    has(String.raw`^(?:module\.)?exports\.${name}\s*=\s*${name}\b`)
  ) {
    return { name, isDefault: false };
  }
  const isDefault = has(String.raw`^(?:export\s+default|module\.exports\s*=)\s+${name}\s*;?\s*$`);
  return isDefault ? { name, isDefault } : undefined;
}
