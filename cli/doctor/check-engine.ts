/** Checks whether the engine of the database can keep limits. */
import { DIALECTS } from "../../server/store/sql/dialects.js";
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { checkEngine, EngineError } from "../../server/store/sql/table/check-engine.js";
import { failure, type Finding, ok } from "./finding.js";

/** The message of a finding that is ok is the version that the database reports. */
export async function engineFinding(
  dialect: DialectName,
  connection: SqlConnection,
): Promise<Finding> {
  const { catalog } = DIALECTS[dialect];
  const [row] = await connection.query(`SELECT ${catalog.version} AS version`, []);
  const version = String(row?.["version"]);
  try {
    checkEngine(catalog, version);
    return ok("engine", version);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return failure("engine", error.message, "docs/databases.md of trpc-rate-limit has the list");
  }
}
