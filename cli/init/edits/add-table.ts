/** Adds the table of the limits to the schema of Prisma, or writes its SQL. */
import type { DialectName } from "../../../server/store/sql/driver.js";
import { bothTables, tableSql } from "../../table-sql.js";
import { closeTablesSql } from "../../visitors-sql.js";
import type { Draft } from "../draft.js";
import type { DatabaseFacts } from "../facts/database.js";
import { inFolder, type Member } from "../facts/member.js";
import type { PrismaTable } from "../facts/prisma-table.js";
import { addDrizzleTable } from "./add-drizzle-table.js";
import { newSupabaseMigration } from "./migrations.js";
import { modelText } from "./prisma-table.js";
import type { AddedTable, TableOptions } from "./added-table.js";
import { findTableSql } from "./table-file.js";

/** @param limits the file of the limits. */
export async function addTable(
  draft: Draft,
  { storage, member, prisma, drizzle }: DatabaseFacts,
  limits: string,
  options: TableOptions,
): Promise<AddedTable> {
  if (prisma !== undefined) return addPrismaTable(draft, member, prisma, options);
  if (drizzle !== undefined) return addDrizzleTable(draft, member, drizzle, options);
  return "dialect" in storage ? addSql(draft, storage.dialect, limits, options) : { isNew: false };
}

async function addPrismaTable(
  draft: Draft,
  member: Member,
  prisma: PrismaTable,
  { closedTo }: TableOptions,
): Promise<AddedTable> {
  const file = inFolder(member, prisma.file);
  if (!prisma.isNew) {
    draft.seen(file);
    return { isNew: false };
  }
  const text = modelText(prisma);
  const edit = (before: string) => before + gapAfter(before) + text;
  if (!prisma.isOwnFile) await draft.editText({ file, edit, lines: text });
  else await draft.create(file, text, "there is a file of this name already");
  if (prisma.taken !== undefined) {
    draft.note(`There is ${prisma.taken}, so the model of the limits is ${prisma.model}.`);
  }
  // Prisma's schema can express no rights.
  const { table: name, inSchema: schema, provider } = prisma;
  const isClosed = closedTo.length > 0 && provider.startsWith("postgres");
  const closing = closeTablesSql(bothTables({ name, schema }), closedTo);
  return { isNew: true, ...(isClosed && { closing }) };
}

function gapAfter(text: string): string {
  if (text === "" || text.endsWith("\n\n")) return "";
  return text.endsWith("\n") ? "\n" : "\n\n";
}

/**
 * Writes the SQL of the table, for an application without a schema that makes its tables: as a migration
 * of Supabase, or beside `limits.ts`.
 */
async function addSql(
  draft: Draft,
  dialect: DialectName,
  limitsFile: string,
  { closedTo, now }: TableOptions,
): Promise<AddedTable> {
  const present = await findTableSql(draft.root);
  if (present !== undefined) {
    draft.seen(present);
    return { isNew: true, sqlFile: present };
  }
  const isClosed = dialect === "postgresql" && closedTo.length > 0;
  const migration = isClosed ? await newSupabaseMigration(draft.root, now) : undefined;
  const sqlFile = migration ?? limitsFile.replace(/[^/]*$/, "rate-limit.sql");
  const why = "there is a file of this name already; put the table into another one";
  await draft.create(sqlFile, tableSql(dialect, { closedTo }), why);
  return { isNew: true, sqlFile };
}
