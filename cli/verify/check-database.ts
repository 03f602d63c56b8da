/** The checks of `doctor` that need no application, and the settings that a reader of the report wants. */
import { DIALECTS } from "../../server/store/sql/dialects.js";
import { checkTable } from "../../server/store/sql/table/check-table.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import type { SqlConnection } from "../../server/store/sql/driver.js";
import type { TableName } from "../../server/store/sql/sql.js";
import { engineFinding } from "../doctor/check-engine.js";
import { checkPooler } from "../doctor/check-pooler.js";
import { clockFinding, readClockDifference } from "../doctor/check-rows.js";
import { checkServer } from "../doctor/check-server.js";
import type { Database } from "../doctor/connect.js";
import type { DatabaseUrl } from "../doctor/database-url.js";
import { type Finding, hasErrors, ok, tried, warning } from "../doctor/finding.js";
import { findLeftTables } from "./left-rows.js";
import type { ServerFacts } from "./server-facts.js";

/** @throws what the driver throws if it cannot connect. */
export async function checkDatabase(
  { connection, openSession }: Database,
  url: DatabaseUrl,
): Promise<ServerFacts> {
  const difference = await readClockDifference(url.dialect, connection);
  const findings = [
    ...(await tried("engine", () => engineFinding(url.dialect, connection))),
    clockFinding(difference),
    ...(await tried("server", () => checkServer(connection, url))),
    ...(await tried("left", () => findLeftTables(url.dialect, connection))),
  ];
  const pooler = openSession ? await tried("pooler", () => checkPooler(openSession)) : [];
  // `verify` does what this check advises, so it is no error here.
  findings.push(
    ...pooler.map((finding) => {
      const { level, check, message, advice = "" } = finding;
      if (level !== "error") return finding;
      return warning(check, `${message}; this run has prepare: false`, advice);
    }),
  );
  const { message: version } = findings.find(({ check }) => check === "engine")!;
  return {
    engine: url.dialect === "sqlite" ? `SQLite ${version}` : version,
    settings: await readSettings(url, connection),
    findings,
    keepsPrepared: !hasErrors(pooler),
  };
}

/** @throws TableError if the table does not fit, or if the server has a setting that voids a promise. */
export async function checkOwnTable(
  { dialect }: DatabaseUrl,
  connection: SqlConnection,
  table: TableName,
): Promise<Finding> {
  await checkTable(DIALECTS[dialect], connection, table, new DatabaseClock());
  return ok("table", "a table that the package's migrations make fits, and so do the settings");
}

const SETTINGS: Record<DatabaseUrl["dialect"], string> = {
  postgresql:
    "SELECT name, setting AS value FROM pg_settings WHERE name IN ('default_transaction_isolation', " +
    "'synchronous_commit', 'extra_float_digits', 'server_encoding', 'jit', 'plan_cache_mode') ORDER BY name",
  mysql:
    "SHOW VARIABLES WHERE Variable_name IN ('transaction_isolation', 'tx_isolation', 'autocommit', " +
    "'binlog_format', 'sql_mode', 'sql_safe_updates', 'innodb_flush_log_at_trx_commit', " +
    "'innodb_autoinc_lock_mode', 'wsrep_on', 'lower_case_table_names')",
  sqlite: "PRAGMA journal_mode",
};

/** The settings that decide what a limit may promise. None, if the user may not read them. */
async function readSettings(
  { dialect }: DatabaseUrl,
  connection: SqlConnection,
): Promise<Record<string, string>> {
  try {
    const rows = await connection.query(SETTINGS[dialect], []);
    return Object.fromEntries(
      rows.map((row) => {
        const [name, value] = Object.values(row);
        return dialect === "sqlite"
          ? ["journal_mode", String(name)]
          : [String(name), String(value)];
      }),
    );
  } catch {
    return {};
  }
}
