/** The engines that speak the language of PostgreSQL, and what they differ in. */
import { type Engine, engineOf } from "../table/check-engine.js";

const POSTGRESQL: Engine = {
  name: "PostgreSQL",
  pattern: /^PostgreSQL (\d+(?:\.\d+)?)/,
  from: [12, 0],
  lacks: "MATERIALIZED",
};

export const ENGINES: readonly Engine[] = [
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
  // The next two engines report a version and no more. A PostgreSQL also names the machine that it was
  // built for.
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
  POSTGRESQL,
];

export interface PostgresqlEngine {
  /**
   * Whether the engine is PostgreSQL itself. No other engine is known to plan subqueries in every
   * place, and to write to one table in several parts of a statement.
   */
  readonly isPostgresql: boolean;
  /**
   * Whether the engine can show the bits of a double. CockroachDB knows the functions and cannot run
   * them.
   */
  readonly showsBits: boolean;
  /**
   * Whether a lock keeps some transactions out and lets others pass. On CockroachDB, FOR KEY SHARE is
   * FOR SHARE, and FOR NO KEY UPDATE is FOR UPDATE.
   */
  readonly hasWeakLocks: boolean;
  /**
   * Whether Serializable transactions may use SKIP LOCKED and NOWAIT. YugabyteDB refuses both clauses.
   */
  readonly skipsWhenSerializable: boolean;
}

export function postgresqlEngine(version: string): PostgresqlEngine {
  const isCockroach = version.startsWith("CockroachDB ");
  return {
    isPostgresql: engineOf(ENGINES, version) === POSTGRESQL,
    showsBits: !isCockroach,
    hasWeakLocks: !isCockroach,
    skipsWhenSerializable: !version.includes("-YB-"),
  };
}
