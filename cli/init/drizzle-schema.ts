/** Finds the schema of Drizzle, and the tables of the limits in it. */
import type { Node } from "@babel/types";
import { parse } from "jsonc-parser";
import { Code } from "./code/code.js";
import { localNames } from "./code/imports.js";
import { bare, callsOf, declaredIn, findAll, nameOf } from "./code/syntax.js";
import type { Core } from "./drizzle-table.js";
import { isFolder, listFiles, readText } from "./files.js";

const CONFIGS = ["ts", "mts", "js", "mjs", "json"].map(
  (extension) => `drizzle.config.${extension}`,
);
const PLACES = [
  "src/server/db/schema.ts",
  "src/db/schema.ts",
  "db/schema.ts",
  "server/db/schema.ts",
];
const SOURCE = /\.[cm]?[jt]s$/;

/** The settings in the config of Drizzle. */
interface Config {
  file: string;
  /** A file, a folder, or a pattern of files; `undefined` where the setting is not one text. */
  schema: string | undefined;
  dialect: string | undefined;
}

/** The place of the schema. Paths are relative to the folder that was searched. */
export type DrizzleSchema =
  | { kind: "file"; file: string; dialect: string | undefined }
  /** The schema is all files of the folder. */
  | { kind: "folder"; folder: string; dialect: string | undefined }
  | { kind: "unknown"; file: string; dialect: string | undefined };

/** `undefined` if there is neither a config nor a file at a usual place. */
export async function findDrizzleSchema(root: string): Promise<DrizzleSchema | undefined> {
  const config = await readConfig(root);
  if (config === undefined) {
    for (const file of PLACES) {
      if ((await readText(root, file)) !== undefined) {
        return { kind: "file", file, dialect: undefined };
      }
    }
    return undefined;
  }
  const { schema, dialect } = config;
  const place = schema?.replace(/^\.\//, "").replace(/\/$/, "") ?? "";
  const folder = place.replace(/\/(?:\*\*\/)?\*(?:\.[cm]?[jt]s)?$/, "");
  if (schema === undefined || /[*{[?]/.test(folder)) {
    return { kind: "unknown", file: config.file, dialect };
  }
  if (await isFolder(root, folder)) {
    const index = (await listFiles(root, folder, /^index\.[cm]?[jt]s$/)).find(
      (file) => file.slice(folder.length + 1) === file.split("/").at(-1),
    );
    return index === undefined
      ? { kind: "folder", folder, dialect }
      : { kind: "file", file: index, dialect };
  }
  return (await readText(root, place)) === undefined
    ? { kind: "unknown", file: place, dialect }
    : { kind: "file", file: place, dialect };
}

async function readConfig(root: string): Promise<Config | undefined> {
  for (const file of CONFIGS) {
    const text = await readText(root, file);
    if (text === undefined) continue;
    if (file.endsWith("json")) {
      const { schema, dialect } = (parse(text) ?? {}) as Record<string, unknown>;
      return { file, schema: textIn(schema), dialect: textIn(dialect) };
    }
    const code = Code.read(file, text);
    const values = new Map(
      code &&
        findAll(code.program, "ObjectProperty").map(({ node }) => [nameOf(node.key), node.value]),
    );
    if (!values.has("schema")) continue;
    return { file, schema: textOf(values.get("schema")), dialect: textOf(values.get("dialect")) };
  }
  return undefined;
}

const textIn = (value: unknown) => {
  const one: unknown = Array.isArray(value) && value.length === 1 ? value[0] : value;
  return typeof one === "string" ? one : undefined;
};

function textOf(node: Node | undefined): string | undefined {
  const value = node && bare(node);
  if (value?.type === "StringLiteral") return value.value;
  if (value?.type === "TemplateLiteral" && value.expressions.length === 0) {
    return value.quasis[0]!.value.cooked ?? undefined;
  }
  if (value?.type === "ArrayExpression" && value.elements.length === 1) {
    return textOf(value.elements[0] ?? undefined);
  }
  return undefined;
}

/** The files of a schema. An `index` that only exports from other files has its tables beside it. */
export async function filesOfSchema(root: string, schema: DrizzleSchema): Promise<string[]> {
  if (schema.kind === "folder") return listFiles(root, schema.folder, SOURCE);
  const folder = /^(.+)\/index\.[cm]?[jt]s$/.exec(schema.file)?.[1];
  if (schema.kind === "unknown" || folder === undefined) return [schema.file];
  const beside = await listFiles(root, folder, SOURCE);
  return [schema.file, ...beside.filter((file) => file !== schema.file)];
}

/** A table in a file of a schema. */
export interface Table {
  /** The name of the constant. */
  constant: string;
  /** The name of the table in the database. */
  name: string;
}

/** The exported table with a column, such as `shard`, which only the table of the limits has. */
export function tableWith(code: Code, column: string): Table | undefined {
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
export function creatorOf(code: Code): { name: string; prefix: string } | undefined {
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
  [/^(postgres|postgresql|pg)$|node-postgres|postgres-js|pglite|neon|vercel-postgres|xata/, "pg"],
  [/mysql/, "mysql"],
  [/sqlite|turso|libsql|d1|durable/, "sqlite"],
];

/** The core of a dialect in Drizzle's config, or of a driver's entry point. */
export function coreNamed(text: string | undefined): Core | undefined {
  return CORES.find(([pattern]) => pattern.test(text ?? ""))?.[1];
}

/** The core of the entry point that makes the client: `drizzle-orm/libsql`. */
export function coreOfClient(code: Code): Core | undefined {
  if (callsOf(code.program, "drizzle").length === 0) return undefined;
  const from = code.program.body.flatMap((each) =>
    each.type === "ImportDeclaration" && each.source.value.startsWith("drizzle-orm/")
      ? [each.source.value.slice("drizzle-orm/".length)]
      : [],
  );
  return from.map(coreNamed).find((core) => core !== undefined);
}
