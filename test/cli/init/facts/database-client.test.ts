/** What counts as the database client of a file, and what does not. */
import { describe, expect, it } from "vitest";
import { initIn } from "../../../support/run-init.js";
import { SCHEMA, TABLES, withPackages } from "../../../support/odd-project.js";

const prisma = (text: string) => ({
  "package.json": withPackages("@prisma/client", "express"),
  "tsconfig.json": "{}\n",
  "prisma/schema.prisma": SCHEMA,
  "src/db.ts": `import { PrismaClient } from "@prisma/client";\n\n${text}`,
});
const drizzle = (text: string) => ({
  "package.json": withPackages("drizzle-orm", "express"),
  "tsconfig.json": "{}\n",
  "src/db/schema.ts": TABLES,
  "src/db.ts": `import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";\n\n${text}`,
});

/** The store in `limits.ts`, or what is printed about the file of the client. */
async function found(files: Record<string, string>): Promise<string> {
  await using app = await initIn(files);
  const written = await app.readAll();
  const limits = Object.keys(written).find((file) => file.endsWith("limits.ts"));
  if (limits === undefined)
    return /^By hand, in src\/db\.ts [^\n]*\n\n +(.*)$/m.exec(app.printed)?.[1] ?? "";
  const text = written[limits]!;
  return `${/import .*"\.\.?\/db";/.exec(text)?.[0] ?? ""} ${/\w+Store\((?:\(\) => \w+Store\()?(\w+(?:\(\))?)/.exec(text)?.[1]}`;
}

const NAMED = 'import { db } from "./db"; db';

describe("a client of Prisma", () => {
  it.each<[string, string, string]>([
    ["made", "export const db = new PrismaClient();", NAMED],
    ["exported at the end", "const db = new PrismaClient();\nexport { db };", NAMED],
    [
      "exported by another name",
      "const client = new PrismaClient();\nexport { client as db };",
      NAMED,
    ],
    [
      "the default",
      "const db = new PrismaClient();\nexport default db;",
      'import db from "./db"; db',
    ],
    ["kept over a reload", "export const db = globalThis.db ?? new PrismaClient();", NAMED],
    [
      "made by a function",
      "const make = () => new PrismaClient();\nexport const db = global.db || make();",
      NAMED,
    ],
    [
      "of a singleton",
      "class One {\n  static get(): PrismaClient {\n    return One.it;\n  }\n}\nexport const db = globalThis.db ?? One.get();",
      NAMED,
    ],
    ["of a type", "export const db: PrismaClient = create();", NAMED],
    ["cast", "export const db = create() as unknown as PrismaClient;", NAMED],
    ["extended", "export const db = new PrismaClient().$extends(soft);", NAMED],
    [
      "given by a function",
      "let db: PrismaClient | undefined;\nexport function getDb() {\n  db ??= new PrismaClient();\n  return db;\n}",
      'import { getDb } from "./db"; getDb()',
    ],
    [
      "given by a type",
      "export function getDb(): PrismaClient {\n  return make();\n}",
      'import { getDb } from "./db"; getDb()',
    ],
  ])("that is %s is taken", async (_, text, store) => {
    expect((await found(prisma(`${text}\n`))).trim()).toBe(store);
  });

  it.each<[string, string, string]>([
    [
      "with replicas",
      "export const db = new PrismaClient().$extends(readReplicas({ url }));",
      "export const db = …;",
    ],
    [
      "with replicas, cast",
      "const db = new PrismaClient();\nexport const both = db.$extends(readReplicas({ url })) as unknown as PrismaClient;",
      "export const db = new PrismaClient();",
    ],
    [
      "made in a wrapper",
      "export const db = remember(() => new PrismaClient());",
      "export const db = …;",
    ],
    [
      "that may be missing",
      "export let db: PrismaClient | undefined;\ndb = new PrismaClient();",
      "export const db = …;",
    ],
    [
      "made for one query",
      "export const users = () => new PrismaClient().user.findMany();",
      "export const db = …;",
    ],
  ])("%s is not taken", async (_, text, line) => {
    expect(await found(prisma(`${text}\n`))).toBe(line);
  });
});

describe("a client of Drizzle", () => {
  it.each<[string, string, string]>([
    ["made", "export const db = drizzle(url);", NAMED],
    ["of a type", "export const db = make() as NodePgDatabase;", NAMED],
    [
      "the primary of several",
      "export const db = drizzle(url);\nexport const all = withReplicas(db, [drizzle(other)]);",
      NAMED,
    ],
    [
      "of a type of the application",
      "type Db = ReturnType<typeof drizzle>;\nexport const db: Db = make();",
      NAMED,
    ],
  ])("that is %s is taken", async (_, text, store) => {
    expect((await found(drizzle(`${text}\n`))).replace("../db", "./db")).toBe(store);
  });

  it("is not what another exported function returns", async () => {
    const text = `const client = postgres(url);
const db = drizzle(client);

export async function getUser(id: string) {
  return await db.select().from(users);
}

export function deleteEverything() {
  return db.delete(users);
}
`;
    expect(await found(drizzle(text))).toBe("export const db = drizzle(client);");
  });

  it("is not the result of a function that makes one inside", async () => {
    const text = `export async function migrateAll() {
  const db = drizzle(url);
  await migrate(db);
}
`;
    expect(await found(drizzle(text))).toBe("export const db = …;");
  });
});

it("prints the limits whole, with the import of what is to be exported", async () => {
  await using app = await initIn(drizzle("const db = drizzle(client);\nexport const a = 1;\n"));
  expect(app.printed).toContain("By hand, in src/db.ts (the limits need its client, exported):");
  expect(app.printed).toContain("(it comes after src/db.ts):");
  expect(app.printed).toMatch(/import \{ db \} from "\.\.?\/db";/);
  expect(app.printed).toContain("store: drizzleStore(db, { table: rateLimits }),");
});
