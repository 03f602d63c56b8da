/** The engines that speak the language of MySQL, and what they differ in. */
import type { Engine } from "../table/check-engine.js";

export const ENGINES: readonly Engine[] = [
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
];

export interface MysqlEngine {
  /** Whether a statement can return the rows that it has written, so that the engine has a plain take. */
  readonly returnsWritten: boolean;
  /** Whether a statement can bound its own waits for locks. MySQL can only bound a session's. */
  readonly boundsStatements: boolean;
}

export function mysqlEngine(version: string): MysqlEngine {
  const isMariaDb = /mariadb/i.test(version);
  return { returnsWritten: isMariaDb, boundsStatements: isMariaDb };
}
