/**
 * Adds the tables of the limits to a schema of Drizzle: into the file of the schema, or into a file
 * beside it.
 */
import { join } from "node:path";
import { overridesName } from "../../server/store/override-table.js";
import { bothTables } from "../table-sql.js";
import { closeTablesSql, revokeSql } from "../visitors-sql.js";
import type { AddedTable, TableOptions } from "./add-table.js";
import type { Code } from "./code/code.js";
import { inStyle, indentUnit } from "./code/code-style.js";
import { importText } from "./code/imports.js";
import { endOf, findAll } from "./code/syntax.js";
import type { Draft } from "./draft.js";
import {
  coreNamed,
  coreOf,
  coreOfClient,
  creatorOf,
  type DrizzleSchema,
  filesOfSchema,
  findDrizzleSchema,
  tableWith,
} from "./drizzle-schema.js";
import { type Core, tableText } from "./drizzle-table.js";
import { findInCode, inFolder, type Member } from "./member.js";

const NO_TABLE = "it needs the table";

export async function addDrizzleTable(
  draft: Draft,
  member: Member,
  { closedTo }: TableOptions,
): Promise<AddedTable> {
  const root = join(draft.root, member.folder);
  const schema = await findDrizzleSchema(root);
  const added = (name: string, file: string, isNew: boolean): AddedTable => ({
    storage: { kind: "drizzle", table: { name, file } },
    isNew,
  });
  const codes = new Map<string, Code>();
  for (const inside of schema === undefined ? [] : await filesOfSchema(root, schema)) {
    const file = inFolder(member, inside);
    const code = await draft.readCode(file);
    if (code) codes.set(file, code);
    const present = code && tableWith(code, "shard");
    if (present === undefined) continue;
    draft.seen(file);
    return added(present.constant, file, false);
  }
  const core = coreFor(member, schema, codes);
  const isClosed = core === "pg" && closedTo.length > 0;
  const isHidden = isClosed && knowsSecurity(member);
  const plan = { draft, member, schema, codes, core, isHidden };
  const place = await placeIn(plan);
  const prefix = typeof place === "string" ? "" : place.prefix;
  const tables = bothTables({ name: prefix + namesFor(plan).table });
  // A schema of Drizzle can express row-level security, but no rights.
  const close = isHidden ? revokeSql : closeTablesSql;
  const closing = isClosed ? { closing: close(tables, closedTo) } : {};
  if (typeof place === "string") {
    byHand(plan, place);
    return { ...added("rateLimits", inFolder(member, "src/db/schema.ts"), true), ...closing };
  }
  if (!place.isDone) draft.stop(NO_TABLE);
  return { ...added(place.name, place.file, true), ...closing };
}

/** Whether Drizzle has `enableRLS`, which exists since 0.36. */
function knowsSecurity({ ranges }: Member): boolean {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(ranges["drizzle-orm"] ?? "") ?? [];
  return major === undefined || Number(major) > 0 || Number(minor) >= 36;
}

interface DrizzlePlan {
  draft: Draft;
  member: Member;
  schema: DrizzleSchema | undefined;
  /** The files of the schema that are code. */
  codes: ReadonlyMap<string, Code>;
  core: Core | undefined;
  isHidden: boolean;
}

/** Finds the kind of database by the imports of the schema, by the config, or by the client. */
function coreFor(
  member: Member,
  schema: DrizzleSchema | undefined,
  codes: DrizzlePlan["codes"],
): Core | undefined {
  const imported = [...codes.values()].map((code) => coreOf(code)?.core).find(Boolean);
  return (
    imported ??
    coreNamed(schema?.dialect) ??
    findInCode(member, /["']drizzle-orm\//, coreOfClient)?.found
  );
}

interface Place {
  name: string;
  file: string;
  /** The prefix of the tables' names in the database. */
  prefix: string;
  isDone: boolean;
}

/** Writes the tables, or resolves with the reason why the tables cannot be written. */
async function placeIn(plan: DrizzlePlan): Promise<Place | string> {
  const { member, schema, codes, core } = plan;
  if (schema === undefined || schema.kind === "unknown") {
    return "the schema is not one file that is named there";
  }
  if (core === undefined) return "nothing says which database it is for";
  if (schema.kind === "folder") return ownFile(plan, core, inFolder(member, schema.folder));
  const file = inFolder(member, schema.file);
  const code = codes.get(file);
  if (code === undefined) return "it is no code that init can read";
  return isBarrel(code) ? besideBarrel(plan, core, code) : inSchemaFile(plan, core, code);
}

function namesFor({ codes }: DrizzlePlan): { name: string; table: string } {
  const isTaken = [...codes.values()].some(({ text }) => /\b(rateLimits|rate_limits)\b/.test(text));
  return isTaken
    ? { name: "trpcRateLimits", table: "trpc_rate_limits" }
    : { name: "rateLimits", table: "rate_limits" };
}

async function inSchemaFile(plan: DrizzlePlan, core: Core, code: Code): Promise<Place | string> {
  const { file } = code;
  const { name, table } = namesFor(plan);
  const names = coreOf(code)?.names ?? new Map<string, string>();
  const local = (imported: string) => names.get(imported) ?? imported;
  const { name: creator, prefix = "" } = creatorOf(code) ?? {};
  const wanted = [
    "primaryKey",
    ...(core === "mysql" ? ["customType"] : []),
    ...(creator === undefined ? [`${core}Table`] : []),
  ].filter((each) => !names.has(each));
  const made = [name, overridesName(name), ...(core === "mysql" ? ["bytes"] : [])];
  const clash = [...wanted, ...made].find((each) => usesName(code, each));
  if (clash !== undefined) return `it uses the name ${clash} for something else`;
  const text = tableText({
    core,
    create: creator ?? local(`${core}Table`),
    primaryKey: local("primaryKey"),
    customType: local("customType"),
    name,
    table,
    isHidden: plan.isHidden,
  });
  const isDone = await plan.draft.edit({
    file,
    edit(before) {
      before.addImport(`drizzle-orm/${core}-core`, wanted);
      before.append(before.styled(text));
      return true;
    },
    lines: text,
  });
  return { name, file, prefix, isDone };
}

/** Whether a name occurs as a variable, and not only as a property. */
function usesName({ program }: Code, name: string): boolean {
  return findAll(program, "Identifier").some(({ node, around }) => {
    const parent = around.at(-1)!;
    const isKey =
      ("key" in parent && parent.key === node && !("shorthand" in parent && parent.shorthand)) ||
      ("property" in parent && parent.property === node);
    return node.name === name && !isKey;
  });
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

/** Writes the table into a file of its own, beside the files that the barrel exports. */
async function besideBarrel(plan: DrizzlePlan, core: Core, barrel: Code): Promise<Place> {
  const place = await ownFile(plan, core, barrel.file.replace(/\/[^/]*$/, ""));
  const all = barrel.program.body.filter(({ type }) => type === "ExportAllDeclaration");
  const last = all.at(-1);
  const present = /\.(?:js|ts)(?=["'])/.exec(last ? barrel.textOf(last) : "")?.[0];
  const { ending } = plan.member.imports;
  const line = `export * from "./rate-limit${last ? (present ?? "") : ending && `.${ending}`}";`;
  if (!place.isDone) return place;
  const isDone = await plan.draft.edit({
    file: barrel.file,
    edit(code) {
      const styled = code.styled(line);
      if (last === undefined) code.insert(0, `${styled}\n`);
      else code.insert(endOf(last), `\n${styled}`);
      return true;
    },
    lines: line,
  });
  return { ...place, isDone };
}

async function ownFile(plan: DrizzlePlan, core: Core, folder: string): Promise<Place> {
  const { name, text } = fileText(plan, core);
  const file = `${folder}/rate-limit.ts`;
  const isDone = await plan.draft.create(file, text, "there is a file of this name already");
  return { name, file, prefix: "", isDone };
}

/** The text of a file that has only the tables, in the style of the schema's files. */
function fileText(plan: DrizzlePlan, core: Core): { name: string; text: string } {
  const { name, table } = namesFor(plan);
  const create = `${core}Table`;
  const imports = [...(core === "mysql" ? ["customType"] : []), create, "primaryKey"].toSorted();
  const local = { primaryKey: "primaryKey", customType: "customType" };
  const names = { core, create, ...local, name, table, isHidden: plan.isHidden };
  const model = [...plan.codes.values()].find((code) => coreOf(code) !== undefined);
  const text = `${importText(`drizzle-orm/${core}-core`, imports)}\n\n${tableText(names)}`;
  const unit = indentUnit(model?.text ?? "");
  return { name, text: inStyle(text, model?.style ?? plan.member.style, unit) };
}

function byHand(plan: DrizzlePlan, why: string): void {
  const { draft, member, schema, core } = plan;
  const inside = schema === undefined || schema.kind === "folder" ? undefined : schema.file;
  const file = inFolder(member, inside ?? "drizzle.config.ts");
  const lines =
    core === undefined
      ? "// see docs/drizzle.md of trpc-rate-limit for the table of each database"
      : fileText(plan, core).text;
  draft.byHand(file, why, lines);
  draft.stop(NO_TABLE);
}
