/**
 * Checks settings of the server: whether the database can be written, the isolation, and the connections.
 */
import { access, constants } from "node:fs/promises";
import type { SqlConnection } from "../../server/store/sql/driver.js";
import type { DatabaseUrl } from "./database-url.js";
import { failure, type Finding, ok, warning } from "./finding.js";

/** Settings of the three databases in the same words. */
interface ServerState {
  /** Why writes fail, if writes fail. */
  readOnly: string | undefined;
  isolation: string | undefined;
  /** How many connections are allowed, and how many are open, as far as this user can see. */
  connections: { most: number; open: number } | undefined;
}

export async function checkServer(connection: SqlConnection, url: DatabaseUrl): Promise<Finding[]> {
  const { readOnly, isolation, connections } = await READ[url.dialect](connection, url);
  const findings = [
    readOnly === undefined
      ? ok("writable", "the database can be written")
      : failure("writable", readOnly, "connect to the primary, with a user who may write"),
  ];
  if (isolation !== undefined) findings.push(isolationFinding(isolation));
  if (connections) findings.push(connectionsFinding(connections));
  const limit = Number(url.params.get("connection_limit") ?? NaN);
  if (limit < LEAST_POOL) {
    findings.push(
      warning(
        "pool",
        `the URL has connection_limit=${limit}`,
        `limiter.transaction() can need two connections at a time, beside those of the ` +
          `application; allow at least ${LEAST_POOL}`,
      ),
    );
  }
  return findings;
}

/** The fewest connections of a pool with which the limiter never waits for its own connections. */
const LEAST_POOL = 3;
/** The fewest free connections that a process needs to open its pool. */
const LEAST_FREE = 10;

function isolationFinding(isolation: string): Finding {
  const message = `the default isolation is ${isolation}`;
  if (!/serializable/i.test(isolation)) return ok("isolation", message);
  return warning(
    "isolation",
    message,
    "limits are exact at every level; leave out serializable as the default of the database, " +
      "because each call then conflicts with others and is tried again",
  );
}

function connectionsFinding({ most, open }: { most: number; open: number }): Finding {
  const message = `${open} of ${most} connections are open`;
  if (most - open >= LEAST_FREE) return ok("connections", message);
  return warning(
    "connections",
    message,
    "a process opens several; raise the limit of the server or of its user, or share connections by a pooler",
  );
}

const READ: Record<
  DatabaseUrl["dialect"],
  (connection: SqlConnection, url: DatabaseUrl) => Promise<ServerState>
> = {
  async postgresql({ query }) {
    const [row] = await query(
      `SELECT pg_is_in_recovery() AS "replica", current_setting('transaction_read_only') AS "readOnly",
         current_setting('default_transaction_isolation') AS "isolation",
         least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
           nullif(r.rolconnlimit, -1), nullif(d.datconnlimit, -1)) AS "most",
         (SELECT count(*)::int FROM pg_stat_activity AS a
          WHERE a.backend_type = 'client backend'
            AND (r.rolconnlimit = -1 OR a.usename = r.rolname)
            AND (d.datconnlimit = -1 OR a.datname = d.datname)) AS "open"
       FROM pg_roles AS r, pg_database AS d
       WHERE r.rolname = current_user AND d.datname = current_database()`,
      [],
    );
    const { replica, readOnly, isolation, most, open } = row!;
    const isReadOnly = readOnly === "on" ? "transactions are read-only by default" : undefined;
    return {
      readOnly: replica === true ? "this server is a read-only replica" : isReadOnly,
      isolation: String(isolation),
      connections: { most: Number(most), open: Number(open) },
    };
  },

  async mysql({ query }) {
    const rows = await query(
      "SHOW VARIABLES WHERE Variable_name IN ('read_only', 'transaction_read_only', 'tx_read_only', " +
        "'innodb_read_only', 'transaction_isolation', 'tx_isolation', 'max_connections', " +
        "'max_user_connections')",
      [],
    );
    const [threads] = await query("SHOW STATUS LIKE 'Threads_connected'", []);
    const values = new Map(rows.map((row) => [String(row["Variable_name"]), String(row["Value"])]));
    const readOnly = [...values].find(([name, value]) => /read_only/.test(name) && value === "ON");
    const perUser = Number(values.get("max_user_connections")) || Infinity;
    return {
      readOnly: readOnly && `the server has ${readOnly[0]}=ON`,
      isolation: values.get("transaction_isolation") ?? values.get("tx_isolation") ?? "unknown",
      connections: {
        most: Math.min(Number(values.get("max_connections")), perUser),
        open: Number(threads?.["Value"] ?? 0),
      },
    };
  },

  async sqlite(_connection, { file }) {
    const isWritable =
      file === undefined ||
      (await access(file, constants.W_OK).then(
        () => true,
        () => false,
      ));
    return {
      readOnly: isWritable ? undefined : `this user may not write ${file}`,
      // SQLite has one level only.
      isolation: undefined,
      connections: undefined,
    };
  },
};
