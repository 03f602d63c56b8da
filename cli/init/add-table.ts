/** Adds the table of the limits to the schema of Prisma, or writes its SQL. */
import { join } from "node:path";
import type { DialectName } from "../../server/store/sql/driver.js";
import { tableSql } from "../table-sql.js";
import type { Draft } from "./draft.js";
import { inFolder, type Member } from "./member.js";
import { planPrisma } from "./prisma-schema.js";
import type { Storage } from "./storage.js";
import { findTableSql } from "./table-file.js";

export interface AddedTable {
  storage: Storage;
  /** Whether the database has to be changed. */
  isNew: boolean;
  /** Of a Prisma schema. */
  provider?: string;
  note?: string;
  /** The file with the SQL. */
  sqlFile?: string;
}

export async function addPrismaTable(draft: Draft, member: Member): Promise<AddedTable> {
  const prisma = (await planPrisma(join(draft.root, member.folder)))!;
  const file = inFolder(member, prisma.file);
  const { model, provider, taken, text } = prisma;
  const isNew = text !== undefined;
  if (!isNew) draft.seen(file);
  else if (prisma.isOwnFile) await draft.create(file, text, "there is a file of this name already");
  else {
    const edit = (before: string) => before + gapAfter(before) + text;
    await draft.editText({ file, edit, lines: text });
  }
  return {
    storage: { kind: "prisma", model },
    isNew,
    provider,
    ...(taken && { note: `There is ${taken}, so the model of the limits is ${model}.` }),
  };
}

function gapAfter(text: string): string {
  if (text === "" || text.endsWith("\n\n")) return "";
  return text.endsWith("\n") ? "\n" : "\n\n";
}

/** For an application whose tables no schema makes. `limits.ts` has the file beside it. */
export async function addSql(
  draft: Draft,
  storage: Storage,
  dialect: DialectName,
  limitsFile: string,
): Promise<AddedTable> {
  const present = await findTableSql(draft.root);
  if (present !== undefined) {
    draft.seen(present);
    return { storage, isNew: true, sqlFile: present };
  }
  const sqlFile = limitsFile.replace(/[^/]*$/, "rate-limit.sql");
  const why = "there is a file of this name already; put the table into another one";
  await draft.create(sqlFile, tableSql(dialect), why);
  return { storage, isNew: true, sqlFile };
}
