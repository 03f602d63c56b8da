/** Finds the schema of Drizzle, and the tables of the limits in it, or the place for them. */
import type { Node } from "@babel/types";
import { Code } from "../code/code.js";
import { localNames } from "../code/imports.js";
import { declaredIn, findAll, nameOf } from "../code/syntax.js";
import { readText } from "../files/files.js";
import { type DrizzleSchema, filesOfSchema, findDrizzleSchema } from "./drizzle-config.js";
import { inFolder, type Member } from "./member.js";

export type Core = "pg" | "mysql" | "sqlite";

/** The file that the author has to look at, and the reason. */
interface ByHand {
  file: string;
  why: string;
}

/** The table of the limits, or the place for it. Paths are relative to the root. */
export interface DrizzleTable {
  /** The name of the constant. */
  name: string;
  /** The name of the table in the database. */
  table: string;
  file: string;
  /** Where the table is to be added. `undefined` if the table is there. */
  place: "in the schema" | "in a new file" | "beside a barrel" | ByHand | undefined;
  /** The function of the application that makes tables with a prefix, in the file of the schema. */
  creator: { name: string; prefix: string } | undefined;
  core: Core | undefined;
  /** The files of the schema that are code, the file with the exports of the others first. */
  codes: readonly Code[];
  /** Before 0.36, Drizzle takes constraints as an object, and has no row-level security. */
  isOld: boolean;
}

/** @param folder the absolute path of the package. */
export async function readDrizzle(folder: string, member: Member): Promise<DrizzleTable> {
  const schema = await findDrizzleSchema(folder);
  const files = schema === undefined ? [] : await filesOfSchema(folder, schema);
  const read = files.map(async (file) =>
    Code.read(inFolder(member, file), (await readText(folder, file)) ?? ""),
  );
  const codes = (await Promise.all(read)).filter((code) => code !== undefined);
  const core = codes.map((code) => coreOf(code)?.core).find(Boolean) ?? coreNamed(schema?.dialect);
  const [, major, minor] = /(\d+)\.(\d+)/.exec(member.ranges["drizzle-orm"] ?? "") ?? [];
  const isOld = major === "0" && Number(minor) < 36;
  const common = { codes, core, isOld, creator: undefined };
  for (const code of codes) {
    const present = tableWith(code, "shard");
    if (present === undefined) continue;
    const { constant, name: table } = present;
    return { ...common, name: constant, table, file: code.file, place: undefined };
  }
  const isTaken = codes.some(({ text }) => /\b(rateLimits|rate_limits)\b/.test(text));
  const names = isTaken
    ? { name: "trpcRateLimits", table: "trpc_rate_limits" }
    : { name: "rateLimits", table: "rate_limits" };
  const place = placeFor(schema, core, codes[0]);
  if (schema === undefined || typeof place === "string") {
    const named = schema?.kind === "file" ? schema.file : "src/db/schema.ts";
    const at = schema?.kind === "unknown" ? schema.file : "drizzle.config.ts";
    const why = typeof place === "string" ? place : NO_SCHEMA;
    const byHand = { file: inFolder(member, schema?.kind === "file" ? named : at), why };
    return { ...common, ...names, place: byHand, file: inFolder(member, named) };
  }
  if (place.at === "in the schema") {
    const creator = creatorOf(codes[0]!);
    const table = (creator?.prefix ?? "") + names.table;
    return { ...common, ...names, table, creator, place: place.at, file: codes[0]!.file };
  }
  const parent = schema.kind === "folder" ? schema.folder : schema.file.replace(/\/[^/]*$/, "");
  const isThere = files.includes(`${parent}/rate-limit.ts`);
  const file = inFolder(member, `${parent}/${isThere ? "trpc-" : ""}rate-limit.ts`);
  return { ...common, ...names, place: place.at, file };
}

/** The place, or the reason why there is none. */
const NO_SCHEMA = "the schema is not one file that is named there";

function placeFor(
  schema: DrizzleSchema | undefined,
  core: Core | undefined,
  first: Code | undefined,
): string | { at: "in the schema" | "in a new file" | "beside a barrel" } {
  if (schema === undefined || schema.kind === "unknown") {
    return NO_SCHEMA;
  }
  if (core === undefined) return "nothing says which database it is for";
  if (schema.kind === "folder") return { at: "in a new file" };
  if (!first?.file.endsWith(schema.file)) return "it is no code that init can read";
  return { at: isBarrel(first) ? "beside a barrel" : "in the schema" };
}

/** Whether a file only exports from other files, or is an index that exports nothing yet. */
function isBarrel({ program, file }: Code): boolean {
  const exportsOnly = program.body.every(
    (each) =>
      each.type === "ExportAllDeclaration" ||
      (each.type === "ExportNamedDeclaration" && !each.declaration),
  );
  const hasAll = program.body.some(({ type }) => type === "ExportAllDeclaration");
  return exportsOnly && (hasAll || /\/index\.\w+$/.test(file));
}

/** A table in a file of a schema. */
export interface Table {
  /** The name of the constant. */
  constant: string;
  /** The name of the table in the database. */
  name: string;
}

/** The exported table with a column, such as `shard`, which only the table of the limits has. */
function tableWith(code: Code, column: string): Table | undefined {
  const found = tablesIn(code).find(({ columns }) =>
    findAll(columns, "ObjectProperty").some(({ node }) => nameOf(node.key) === column),
  );
  if (found === undefined) return undefined;
  const creator = creatorOf(code);
  const { callee } = found.made;
  // `createTable.withRLS(…)`
  const by = nameOf(callee) === "withRLS" && "object" in callee ? callee.object : callee;
  const prefix = creator?.name === nameOf(by) ? (creator?.prefix ?? "") : "";
  return { constant: found.constant, name: prefix + found.name };
}

/**
 * The exported tables of a file: for each table, the call that makes it, its name, and the argument with
 * its columns.
 */
export function tablesIn(code: Code) {
  return declaredIn(code.program).flatMap(({ name: constant, value, isExported }) => {
    const made = value && withoutSecurity(value);
    if (!isExported || made?.type !== "CallExpression") return [];
    const [named, columns] = made.arguments;
    if (named?.type !== "StringLiteral" || columns === undefined) return [];
    return [{ constant, made, name: named.value, columns }];
  });
}

/** The call before `.enableRLS()`. */
function withoutSecurity(value: Node): Node {
  if (value.type !== "CallExpression" || value.callee.type !== "MemberExpression") return value;
  return nameOf(value.callee) === "enableRLS" ? value.callee.object : value;
}

/** The function of the application that makes tables with a prefix. */
function creatorOf(code: Code): { name: string; prefix: string } | undefined {
  for (const { name, value } of declaredIn(code.program)) {
    if (value?.type !== "CallExpression") continue;
    if (!/^(pg|mysql|sqlite)TableCreator$/.test(nameOf(value.callee) ?? "")) continue;
    const [template] = findAll(value, "TemplateLiteral");
    return { name, prefix: template?.node.quasis[0]!.value.cooked ?? "" };
  }
  return undefined;
}

/** The table of the limits, if the application has a Drizzle schema with this table. */
export function findOurTable(root: string): Promise<string | undefined> {
  return findTable(root, "shard");
}

/** The table of overrides, if the application has a Drizzle schema with this table. */
export function findOverridesTable(root: string): Promise<string | undefined> {
  return findTable(root, "setAt");
}

async function findTable(root: string, column: string): Promise<string | undefined> {
  const schema = await findDrizzleSchema(root);
  for (const file of schema === undefined ? [] : await filesOfSchema(root, schema)) {
    const text = (await readText(root, file)) ?? "";
    const code = text.includes(column) ? Code.read(file, text) : undefined;
    const table = code && tableWith(code, column);
    if (table !== undefined) return table.name;
  }
  return undefined;
}

const CORE = /^drizzle-orm\/(pg|mysql|sqlite)-core$/;

/** The core from which a file imports, with the names that the file imports. */
export function coreOf(code: Code): { core: Core; names: Map<string, string> } | undefined {
  const core = code.program.body.flatMap((each) =>
    each.type === "ImportDeclaration" ? (CORE.exec(each.source.value)?.[1] ?? []) : [],
  )[0] as Core | undefined;
  return core && { core, names: localNames(code, CORE) };
}

const CORES: [RegExp, Core][] = [
  [/^(postgres|postgresql|pg)$/, "pg"],
  [/mysql/, "mysql"],
  [/sqlite|turso|libsql|d1|durable/, "sqlite"],
];

/** The core of a dialect in Drizzle's config. */
function coreNamed(text: string | undefined): Core | undefined {
  return CORES.find(([pattern]) => pattern.test(text ?? ""))?.[1];
}
