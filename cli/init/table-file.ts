/** The file with the SQL of the table, for an application whose tables no schema makes. */
import type { DialectName } from "../../server/store/sql/driver.js";
import { makesTable, tableSql } from "../table-sql.js";
import type { Application } from "./application.js";
import { type Proposal, propose } from "./editable.js";
import { listFiles, readText } from "./files.js";

export type TableFile = { file: string; isPresent: boolean } & (
  Proposal | { change: undefined; byHand: undefined }
);

const SOURCE = /\.(sql|[cm]?[jt]sx?)$/;

/** @param limitsFile has the SQL beside it. */
export async function planTable(
  { root }: Application,
  dialect: DialectName,
  limitsFile: string,
): Promise<TableFile> {
  const present = await findTableSql(root);
  if (present !== undefined) {
    return { file: present, isPresent: true, change: undefined, byHand: undefined };
  }
  const file = limitsFile.replace(/[^/]*$/, "rate-limit.sql");
  const before = await readText(root, file);
  const sql = tableSql(dialect);
  if (before !== undefined) {
    const why = "there is a file of this name already; put the table into another one";
    return { file, isPresent: false, change: undefined, byHand: { file, why, lines: sql } };
  }
  return { file, isPresent: false, ...(await propose(root, { file, before, after: sql }, sql)) };
}

/** The file of the application that makes the table, by SQL or by a migration in code. */
export async function findTableSql(root: string): Promise<string | undefined> {
  for (const file of await listFiles(root, "", SOURCE)) {
    if (makesTable((await readText(root, file)) ?? "")) return file;
  }
  return undefined;
}
