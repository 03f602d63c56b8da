/**
 * Adds the tables of the limits to a schema of Drizzle: into the file of the schema, or into a file
 * beside it.
 */
import { overridesName } from "../../../server/store/override-table.js";
import { bothTables } from "../../table-sql.js";
import { closeTablesSql, revokeSql } from "../../visitors-sql.js";
import type { AddedTable, TableOptions } from "./added-table.js";
import type { Code } from "../code/code.js";
import { inStyle, indentUnit } from "../code/code-style.js";
import { importText } from "../code/imports.js";
import { endOf, findAll } from "../code/syntax.js";
import type { Draft } from "../draft.js";
import { type Core, coreOf, type DrizzleTable } from "../facts/drizzle-schema.js";
import { tableText } from "./drizzle-table.js";
import type { Member } from "../facts/member.js";

const NO_TABLE = "it needs the table";

export async function addDrizzleTable(
  draft: Draft,
  member: Member,
  drizzle: DrizzleTable,
  { closedTo }: TableOptions,
): Promise<AddedTable> {
  const { place, core, isOld, file, codes } = drizzle;
  if (place === undefined) {
    draft.seen(file);
    return { isNew: false };
  }
  const isClosed = core === "pg" && closedTo.length > 0;
  const isHidden = isClosed && !isOld;
  const plan = { draft, member, drizzle, isHidden };
  const isDone =
    typeof place === "string" &&
    (place === "in the schema"
      ? await inSchemaFile(plan, core!, codes[0]!)
      : await inOwnFile(plan, core!));
  if (typeof place === "object") byHand(plan, place);
  if (!isDone) draft.stop(NO_TABLE);
  // A schema of Drizzle can express row-level security, but no rights.
  const close = isHidden ? revokeSql : closeTablesSql;
  const closing = close(bothTables({ name: drizzle.table }), closedTo);
  return { isNew: true, ...(isClosed && { closing }) };
}

interface DrizzlePlan {
  draft: Draft;
  member: Member;
  drizzle: DrizzleTable;
  isHidden: boolean;
}

async function inSchemaFile(plan: DrizzlePlan, core: Core, code: Code): Promise<boolean> {
  const { name, creator } = plan.drizzle;
  const names = coreOf(code)?.names ?? new Map<string, string>();
  const local = (imported: string) => names.get(imported) ?? imported;
  const wanted = [
    "primaryKey",
    ...(core === "mysql" ? ["customType"] : []),
    ...(creator === undefined ? [`${core}Table`] : []),
  ].filter((each) => !names.has(each));
  const made = [name, overridesName(name), ...(core === "mysql" ? ["bytes"] : [])];
  const clash = [...wanted, ...made].find((each) => usesName(code, each));
  if (clash !== undefined) {
    byHand(plan, { file: code.file, why: `it uses the name ${clash} for something else` });
    return false;
  }
  const text = textOf(plan, core, creator?.name ?? local(`${core}Table`), local);
  return plan.draft.edit({
    file: code.file,
    edit(before) {
      before.addImport(`drizzle-orm/${core}-core`, wanted);
      before.append(before.styled(text));
      return true;
    },
    lines: text,
  });
}

function textOf(
  { drizzle, isHidden }: DrizzlePlan,
  core: Core,
  create: string,
  local: (imported: string) => string,
): string {
  const { name, table, creator, isOld } = drizzle;
  return tableText({
    core,
    create,
    primaryKey: local("primaryKey"),
    customType: local("customType"),
    name,
    table: table.slice(creator?.prefix.length ?? 0),
    isHidden,
    isOld,
  });
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

/** Writes the table into a file of its own, which a barrel exports with its other files. */
async function inOwnFile(plan: DrizzlePlan, core: Core): Promise<boolean> {
  const { draft, drizzle, member } = plan;
  const { file, codes, place } = drizzle;
  const why = "there is a file of this name already";
  if (!(await draft.create(file, fileText(plan, core), why))) return false;
  const [barrel] = codes;
  if (place !== "beside a barrel" || barrel === undefined) return true;
  const last = barrel.program.body.findLast(({ type }) => type === "ExportAllDeclaration");
  const present = /\.(?:js|ts)(?=["'])/.exec(last ? barrel.textOf(last) : "")?.[0];
  const { ending } = member.imports;
  const name = file.slice(file.lastIndexOf("/") + 1).replace(/\.ts$/, "");
  const line = `export * from "./${name}${last ? (present ?? "") : ending && `.${ending}`}";`;
  return draft.edit({
    file: barrel.file,
    edit(code) {
      const styled = code.styled(line);
      if (last === undefined) code.insert(0, `${styled}\n`);
      else code.insert(endOf(last), `\n${styled}`);
      return true;
    },
    lines: line,
  });
}

/** The text of a file that has only the tables, in the style of the schema's files. */
function fileText(plan: DrizzlePlan, core: Core): string {
  const create = `${core}Table`;
  const imports = [...(core === "mysql" ? ["customType"] : []), create, "primaryKey"].toSorted();
  const model = plan.drizzle.codes.find((code) => coreOf(code) !== undefined);
  const tables = textOf(plan, core, create, (name) => name);
  const text = `${importText(`drizzle-orm/${core}-core`, imports)}\n\n${tables}`;
  return inStyle(text, model?.style ?? plan.member.style, indentUnit(model?.text ?? ""));
}

function byHand(plan: DrizzlePlan, { file, why }: { file: string; why: string }): void {
  const { core } = plan.drizzle;
  const lines =
    core === undefined
      ? "// see docs/drizzle.md of trpc-rate-limit for the table of each database"
      : fileText(plan, core);
  plan.draft.byHand(file, why, lines);
}
