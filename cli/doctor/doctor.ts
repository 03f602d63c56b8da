/** `trpc-rate-limit doctor`: looks for problems that keep limits from working, and says what to do. */
import { checkTable } from "../../server/store/sql/table/check-table.js";
import { DIALECTS } from "../../server/store/sql/dialects.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import { TableError } from "../../server/store/sql/table/table-error.js";
import { checkEnabled } from "./check-enabled.js";
import { engineFinding } from "./check-engine.js";
import { checkGrants } from "./check-grants.js";
import { checkOverrides, overridesOf, usesOverrides } from "./check-overrides.js";
import { checkPools } from "./check-pool-listeners.js";
import { checkPooler } from "./check-pooler.js";
import { checkPrismaPool } from "./check-prisma-pool.js";
import { checkRowSecurity } from "./check-row-security.js";
import { checkRows, clockFinding, readClockDifference } from "./check-rows.js";
import { checkServer } from "./check-server.js";
import { checkStream } from "./check-stream.js";
import { checkVersions } from "./check-versions.js";
import { checkWorkspace } from "./check-workspace.js";
import { CliError } from "../cli-error.js";
import { connect, type Database, NoDriverError, NoFileError } from "./connect.js";
import { type DatabaseUrl, findDatabaseUrl } from "./database-url.js";
import { failure, type Finding, messageOf, ok, tried } from "./finding.js";
import { findNames, findTable } from "./find-table.js";
import { missingAdvice } from "./missing-table.js";
import { type Places, placesOf } from "./places.js";

export interface DoctorOptions {
  /** The application's folder. */
  root: string;
  /** The URL of the database. @default `DATABASE_URL` */
  url?: string | undefined;
  /** The table of the limits. @default the table in the application's schema, or "RateLimit" */
  table?: string | undefined;
  /** The schema of the table. @default the option `schema` of the URL, as Prisma has it */
  schema?: string | undefined;
  /** The URL of tRPC, or of the handler of limits. @default streams are not checked */
  app?: string | undefined;
  /** The name of a limit to watch. @default the names in the sources */
  limit?: string | undefined;
  /** Header lines for the application, of the form `name: value`. */
  headers?: readonly string[];
  /** The ranges of this package's peers. */
  peers: Readonly<Record<string, string>>;
  /** How long to wait for the first event of a stream, ms. @default 5000 */
  patience?: number;
}

/** @throws CliError when there is nothing to check. */
export async function doctor(options: DoctorOptions): Promise<Finding[]> {
  const { app, limit, headers = [], peers, patience } = options;
  const places = await placesOf(options.root);
  const { root, workspace } = places;
  const findings = await tried("versions", () =>
    workspace ? checkWorkspace(workspace, peers) : checkVersions(root, peers),
  );
  findings.push(...(await tried("pool-errors", () => checkPools(root))));
  findings.push(...(await tried("enabled", () => checkEnabled(root))));
  findings.push(...(await checkDatabase(options, places)));
  if (app !== undefined) {
    const names = limit === undefined ? await findNames(root) : [limit];
    const wait = patience === undefined ? {} : { patience };
    findings.push(
      ...(await tried("stream", () => checkStream({ url: app, names, headers, ...wait }))),
    );
  }
  return findings;
}

async function checkDatabase(options: DoctorOptions, places: Places): Promise<Finding[]> {
  const url = await findDatabaseUrl(options.root, options.url);
  let database: Database;
  try {
    database = await connect(places.installed, url);
  } catch (error) {
    if (error instanceof NoDriverError || error instanceof NoFileError) {
      return [failure("connect", error.message, error.advice)];
    }
    if (error instanceof CliError) return [failure("connect", error.message, HOW_TO_CONNECT)];
    return [unreachable(url, error)];
  }
  try {
    return await checkConnected(options, places, url, database);
  } finally {
    await database.close().catch(() => {});
  }
}

const HOW_TO_CONNECT = "check DATABASE_URL, or pass --url";

function unreachable(url: DatabaseUrl, error: unknown): Finding {
  return failure("connect", `cannot connect to ${url.shown}: ${messageOf(error)}`, HOW_TO_CONNECT);
}

async function checkConnected(
  options: DoctorOptions,
  { root, schema: folder }: Places,
  url: DatabaseUrl,
  { connection, driver, openSession }: Database,
): Promise<Finding[]> {
  const { dialect } = url;
  let difference: number;
  try {
    difference = await readClockDifference(dialect, connection);
  } catch (error) {
    return [unreachable(url, error)];
  }
  const name = options.table ?? (await findTable(folder));
  const schema = options.schema ?? url.params.get("schema") ?? undefined;
  const table = { name, schema: dialect === "sqlite" ? undefined : schema };
  const findings = [ok("connect", `connected to ${url.shown} through ${driver}`)];
  const engine = await tried("engine", () => engineFinding(dialect, connection));
  findings.push(...engine);
  if (engine.every(({ level }) => level !== "error")) {
    const missing = await missingAdvice(folder, dialect);
    const ofTable = await tried("table", () => tableFinding(dialect, connection, table, missing));
    findings.push(...ofTable);
    if (ofTable.every(({ level }) => level === "ok")) {
      findings.push(
        ...(await tried("future", () => checkRows(dialect, connection, table, difference))),
      );
    }
  }
  const check = () => checkOverrides({ root, schema: folder }, dialect, connection, table);
  findings.push(...(await tried("overrides", check)));
  const checkRights = async () => {
    const beside = await overridesOf(folder, table);
    const used = (await usesOverrides(root)) ? [table, beside] : [table];
    return [
      ...(await checkGrants(dialect, connection, table, beside)),
      ...(await checkRowSecurity(dialect, connection, used)),
    ];
  };
  findings.push(...(await tried("grants", checkRights)));
  findings.push(clockFinding(difference));
  findings.push(...(await tried("server", () => checkServer(connection, url))));
  findings.push(...(await tried("prisma-pool", () => checkPrismaPool(root, dialect))));
  if (openSession) findings.push(...(await tried("pooler", () => checkPooler(openSession))));
  return findings;
}

const ADVICE: Record<Exclude<TableError["reason"], "missing">, string> = {
  elsewhere: "name its schema by --schema, and to the store or the model as the message says",
  foreign: "give the model of the limits another name, as npx trpc-rate-limit init does",
  columns: "give the columns their names in the schema, as the message says, and migrate",
  type: "migrate the columns used and ts to doubles, as in the package's migrations",
  collation:
    "migrate the columns name and key to a binary collation, as in the package's migrations",
  charset: "connect with utf8mb4",
  key: "delete its rows and add the primary key of the package's migrations",
  setting:
    "change it on the server, for the user of the application, or in the options of its client",
};

/**
 * Matches a table of another version, which has `value` in place of `used`. A rename of the column would
 * be wrong: `value` says what is left, and `used` says what was used.
 */
const OF_WHAT_IS_LEFT = /has no column used; it has (.*, )?value\b/;
const REMADE_ADVICE =
  "this is the table of another version, whose rows say what is left and not what was used: drop it " +
  "and make it anew by the package's migrations, or give the model of the limits another name";

async function tableFinding(
  dialect: DatabaseUrl["dialect"],
  connection: Database["connection"],
  table: { name: string; schema: string | undefined },
  missing: string,
): Promise<Finding> {
  try {
    await checkTable(DIALECTS[dialect], connection, table, new DatabaseClock());
    const place = table.schema === undefined ? "" : ` in schema "${table.schema}"`;
    return ok("table", `table "${table.name}"${place} is one of limits`);
  } catch (error) {
    if (!(error instanceof TableError)) throw error;
    const { reason, fact, message } = error;
    // Leave the store's hint out: it names SQL of the package, and the advice may name SQL of the
    // application.
    if (reason === "missing") return failure("table-missing", fact, missing);
    if (reason === "columns" && OF_WHAT_IS_LEFT.test(fact)) {
      return failure("table-columns", fact, REMADE_ADVICE);
    }
    return failure(`table-${reason}`, message, ADVICE[reason]);
  }
}
