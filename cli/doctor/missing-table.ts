/** The advice for a missing table, by the way in which the application makes its tables. */
import type { DialectName } from "../../server/store/sql/driver.js";
import { findOurTable } from "../init/facts/drizzle-schema.js";
import { readText } from "../init/files/files.js";
import { runnerIn } from "../init/facts/package-manager.js";
import { findOurModel, hasPrismaSchema } from "../init/facts/prisma-schema.js";
import { findTableSql } from "../init/edits/table-file.js";
import { commandOf, packagedSql } from "../table-sql.js";
import { envFileToLoad } from "./database-url.js";

const OTHER = "or name another table by --table";

export async function missingAdvice(root: string, dialect: DialectName): Promise<string> {
  const run = await runnerIn(root);
  if ((await findOurModel(root)) !== undefined) {
    return `the Prisma schema has its model: run ${run} prisma migrate dev, or ${run} prisma db push, ${OTHER}`;
  }
  if ((await findOurTable(root)) !== undefined) {
    return `the Drizzle schema has it: run ${run} drizzle-kit push, or generate and migrate, ${OTHER}`;
  }
  const packageJson = (await readText(root, "package.json")) ?? "";
  if ((await hasPrismaSchema(root)) || packageJson.includes('"drizzle-orm"')) {
    return `run npx trpc-rate-limit init, which adds it to the schema, and migrate, ${OTHER}`;
  }
  const sql = (await findTableSql(root)) ?? packagedSql(dialect);
  // A migration in code needs the application's own tool.
  if (!sql.endsWith(".sql")) return `run the migration ${sql}, ${OTHER}`;
  const command = commandOf(dialect, sql, await envFileToLoad(root));
  return `run the SQL that makes it: ${command}, ${OTHER}`;
}
