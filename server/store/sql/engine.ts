/**
 * Tells the database engines apart that answer to one dialect, by the version that they report.
 * Some accept the statements and do not keep their promises, or fail at the first one with an error
 * that explains nothing. Those are refused by name.
 */
import type { DialectName } from "./driver.js";

/** Its message names the engine, says why it is refused, and what to do. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** The SQL that returns the version. */
export const VERSION: Record<DialectName, string> = {
  postgresql: "version()",
  // SingleStore reports the version of a MySQL, and its own name only in the comment.
  mysql: "CONCAT(VERSION(), ' ', @@version_comment)",
  sqlite: "sqlite_version()",
};

/**
 * What the check of the table asks for. D1 refuses `sqlite_version()`, so SQLite is asked for an
 * operator that the lowest version has. A lower one refuses the statement.
 */
export const REPORT: Record<DialectName, string> = { ...VERSION, sqlite: `'[1]' ->> 0` };

interface Engine {
  name: string;
  pattern: RegExp;
  /** Why the engine is refused. Absent: it is not, from the version `from` on. */
  refusal?: string;
  /** The lowest version, compared with the first group of the pattern. */
  from?: readonly number[];
  /** What the lower versions lack. */
  lacks?: string;
}

/** For each dialect, the first engine whose pattern matches is the one that runs. */
const ENGINES: Record<DialectName, readonly Engine[]> = {
  postgresql: [
    {
      name: "Amazon Redshift",
      pattern: /\bRedshift\b/,
      refusal: "it has neither row locks nor ON CONFLICT",
    },
    {
      name: "CockroachDB",
      pattern: /^CockroachDB .*?v(\d+\.\d+)/,
      from: [23, 1],
      lacks: "DELETE … USING",
    },
    {
      name: "YugabyteDB",
      pattern: /^PostgreSQL (\d+\.\d+)-YB-/,
      from: [15, 0],
      lacks: "MATERIALIZED",
    },
    // A PostgreSQL also names the machine that it was built for.
    {
      name: "Google Spanner",
      pattern: /^PostgreSQL 14\.1$/,
      refusal: "it has neither row locks that can be skipped nor LATERAL",
    },
    {
      name: "Amazon Aurora DSQL",
      pattern: /^PostgreSQL \d+$/,
      refusal: "it has neither row locks that can be skipped nor Serializable transactions",
    },
    {
      name: "PostgreSQL",
      pattern: /^PostgreSQL (\d+(?:\.\d+)?)/,
      from: [12, 0],
      lacks: "MATERIALIZED",
    },
  ],
  mysql: [
    {
      name: "TiDB",
      pattern: /TiDB/i,
      refusal: "it has neither JSON_TABLE nor Serializable transactions",
    },
    {
      name: "Vitess (PlanetScale)",
      pattern: /Vitess|PlanetScale/i,
      refusal: "it passes no JSON_TABLE on, and does not isolate transactions that span shards",
    },
    {
      name: "SingleStore",
      pattern: /SingleStore|MemSQL/i,
      refusal: "it has neither JSON_TABLE nor Serializable transactions",
    },
    { name: "OceanBase", pattern: /OceanBase/i, refusal: "it was never tried" },
    {
      name: "MariaDB",
      pattern: /^(?:5\.5\.5-)?(\d+\.\d+).*MariaDB/i,
      from: [10, 6],
      lacks: "JSON_TABLE and SKIP LOCKED",
    },
    {
      name: "MySQL",
      pattern: /^(\d+\.\d+(?:\.\d+)?)/,
      from: [8, 0, 17],
      lacks: "JSON_TABLE, SKIP LOCKED or CAST(… AS DOUBLE)",
    },
  ],
  sqlite: [{ name: "SQLite", pattern: /^(\d+\.\d+)/, from: [3, 38], lacks: "RETURNING or ->>" }],
};

const INSTEAD: Record<DialectName, string> = {
  postgresql: "keep the limits in a PostgreSQL from version 12 on",
  mysql: "keep the limits in MySQL 8.0.17 or MariaDB 10.6, or a later one, or in PostgreSQL",
  sqlite: "use a client with a later SQLite",
};

/**
 * @param version what `VERSION` returned. A version that is not known passes.
 * @throws EngineError
 */
export function checkEngine(dialect: DialectName, version: string): void {
  const engine = ENGINES[dialect].find(({ pattern }) => pattern.test(version));
  if (engine === undefined) return;
  const { name, pattern, refusal, from, lacks } = engine;
  const hint = `(it reports "${version}"; ${INSTEAD[dialect]})`;
  if (refusal !== undefined)
    throw new EngineError(`${name} cannot keep limits: ${refusal} ${hint}`);
  const found = (pattern.exec(version)?.[1] ?? "").split(".").map(Number);
  const [lowest, other] =
    from?.map((number, index) => [number, found[index] ?? number]).find(([a, b]) => a !== b) ?? [];
  if (from === undefined || lowest === undefined || other! > lowest) return;
  throw new EngineError(
    `${name} before ${from.join(".")} cannot keep limits: it lacks ${lacks} ${hint}`,
  );
}

/** Whether it is PostgreSQL itself, and no other engine that speaks its language. */
export function isPostgresql(version: string): boolean {
  return ENGINES.postgresql.find(({ pattern }) => pattern.test(version))?.name === "PostgreSQL";
}

/**
 * Whether it is CockroachDB. There, FOR KEY SHARE is FOR SHARE, and FOR NO KEY UPDATE is FOR UPDATE.
 * So no lock keeps one transaction out and lets another one pass.
 */
export function isCockroach(version: string): boolean {
  return version.startsWith("CockroachDB ");
}

/** Whether the engine refuses SKIP LOCKED and NOWAIT in Serializable transactions. */
export function isYugabyte(version: string): boolean {
  return /-YB-/.test(version);
}
