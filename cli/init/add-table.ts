/** Adds the table of the limits to the schema of Prisma, or writes its SQL. */
import { join } from "node:path";
import type { DialectName } from "../../server/store/sql/driver.js";
import { bothTables, tableSql } from "../table-sql.js";
import { closeTablesSql } from "../visitors-sql.js";
import type { Draft } from "./draft.js";
import { inFolder, type Member } from "./member.js";
import { newPrismaMigration, newSupabaseMigration } from "./migrations.js";
import { planPrisma, type PrismaTable, tableOf } from "./prisma-schema.js";
import { hidesPool, type Storage } from "./storage.js";
import { findTableSql } from "./table-file.js";

export interface TableOptions {
  /** The roles of visitors, which get no right on the tables. Empty where there are no such roles. */
  closedTo: readonly string[];
  /** Epoch ms, for the name of a migration. */
  now: number;
}

export interface AddedTable {
  storage: Storage;
  /** Whether the table is new, so that the database has to be changed. */
  isNew: boolean;
  /** The `provider` of a Prisma schema. */
  provider?: string;
  note?: string;
  /** The file with the SQL. */
  sqlFile?: string;
  /** The migration of Prisma that makes the table, if the migration is written. */
  migration?: string;
  /** SQL that closes the table to visitors. The application's author adds this SQL to a migration. */
  closing?: string;
}

export async function addPrismaTable(
  draft: Draft,
  member: Member,
  options: TableOptions,
): Promise<AddedTable> {
  const prisma = (await planPrisma(join(draft.root, member.folder)))!;
  const file = inFolder(member, prisma.file);
  const { model, provider, taken, text } = prisma;
  const isNew = text !== undefined;
  let isDone = false;
  if (!isNew) draft.seen(file);
  else if (prisma.isOwnFile) {
    isDone = await draft.create(file, text, "there is a file of this name already");
  } else {
    const edit = (before: string) => before + gapAfter(before) + text;
    isDone = await draft.editText({ file, edit, lines: text });
  }
  const closed = isNew ? await closePrisma(draft, member, prisma, isDone, options) : {};
  return {
    storage: { kind: "prisma", model, hidesPool: hidesPool(member) },
    isNew,
    provider,
    ...closed,
    ...(taken && { note: `There is ${taken}, so the model of the limits is ${model}.` }),
  };
}

/** Takes the rights from visitors in a migration: Prisma's schema cannot express rights. */
async function closePrisma(
  draft: Draft,
  member: Member,
  { model, provider, inSchema }: PrismaTable,
  isInSchema: boolean,
  { closedTo, now }: TableOptions,
): Promise<Pick<AddedTable, "migration" | "closing">> {
  if (closedTo.length === 0 || !provider.startsWith("postgres")) return {};
  const table = { name: tableOf(model), schema: inSchema };
  const migration = await newPrismaMigration(draft.root, member.folder, now);
  // If the schema lacks the table, the next migration would undo this migration.
  if (migration === undefined || !isInSchema) {
    return { closing: closeTablesSql(bothTables(table), closedTo) };
  }
  const why = "there is a file of this name already";
  await draft.create(migration, tableSql("postgresql", { table, closedTo }), why);
  return { migration };
}

function gapAfter(text: string): string {
  if (text === "" || text.endsWith("\n\n")) return "";
  return text.endsWith("\n") ? "\n" : "\n\n";
}

/**
 * Writes the SQL of the table, for an application without a schema that makes its tables: as a migration
 * of Supabase, or beside `limits.ts`.
 */
export async function addSql(
  draft: Draft,
  storage: Storage,
  dialect: DialectName,
  limitsFile: string,
  { closedTo, now }: TableOptions,
): Promise<AddedTable> {
  const present = await findTableSql(draft.root);
  if (present !== undefined) {
    draft.seen(present);
    return { storage, isNew: true, sqlFile: present };
  }
  const isClosed = dialect === "postgresql" && closedTo.length > 0;
  const migration = isClosed ? await newSupabaseMigration(draft.root, now) : undefined;
  const sqlFile = migration ?? limitsFile.replace(/[^/]*$/, "rate-limit.sql");
  const why = "there is a file of this name already; put the table into another one";
  await draft.create(sqlFile, tableSql(dialect, { closedTo }), why);
  return { storage, isNew: true, sqlFile };
}
