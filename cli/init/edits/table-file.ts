/** Finds the SQL of the table, in an application without a schema that makes its tables. */
import { makesTable } from "../../table-sql.js";
import { listFiles, readText } from "../files/files.js";

const SOURCE = /\.(sql|[cm]?[jt]sx?)$/;

/** The file of the application that makes the table, by SQL or by a migration in code. */
export async function findTableSql(root: string): Promise<string | undefined> {
  for (const file of await listFiles(root, "", SOURCE)) {
    if (makesTable((await readText(root, file)) ?? "")) return file;
  }
  return undefined;
}
