/**
 * Chooses where the limits are kept: in the database of the application's own data, by its own client.
 */
import type { DialectName } from "../../../server/store/sql/driver.js";
import type { Code } from "../code/code.js";
import { callsOf } from "../code/syntax.js";
import { findInCode, type Member } from "./member.js";

export type Storage =
  | { kind: "prisma"; model: string; hidesPool: boolean }
  | { kind: "drizzle"; table: { name: string; file: string } }
  | { kind: "kysely"; dialect: DialectName }
  | { kind: "plain"; client: PlainClient; dialect: DialectName }
  | { kind: "memory" };

const PLAIN_CLIENTS = {
  pg: "postgresql",
  mysql2: "mysql",
  mariadb: "mysql",
  "better-sqlite3": "sqlite",
  "@libsql/client": "sqlite",
  "node:sqlite": "sqlite",
  postgres: "postgresql",
} as const satisfies Record<string, DialectName>;

/** A client without an ORM. The clients are looked for in this order. */
export type PlainClient = keyof typeof PLAIN_CLIENTS;

type OtherStorage = Extract<Storage, { kind: "kysely" | "plain" | "memory" }>;

/**
 * The storage of an application with neither Prisma nor Drizzle. Packages for development do not count.
 */
export function findStorage({ dependencies, sources }: Member): OtherStorage {
  const client = (Object.keys(PLAIN_CLIENTS) as PlainClient[]).find((name) =>
    name.startsWith("node:")
      ? [...sources.values()].some((text) => /["']node:sqlite["']/.test(text))
      : dependencies.has(name),
  );
  if (client === undefined) return { kind: "memory" };
  const dialect = PLAIN_CLIENTS[client];
  return dependencies.has("kysely")
    ? { kind: "kysely", dialect }
    : { kind: "plain", client, dialect };
}

/** The function that makes a store, and the entry point that exports the function. */
export interface Store {
  call: string;
  name: string;
  from: string;
}

export function storeOf(storage: Storage, db: string): Store {
  const from = "trpc-rate-limit/server";
  if (storage.kind === "memory") return { call: "memoryStore()", name: "memoryStore", from };
  if (storage.kind === "drizzle") {
    const call = `drizzleStore(${db}, { table: ${storage.table.name} })`;
    return { call, name: "drizzleStore", from: "trpc-rate-limit/drizzle" };
  }
  if (storage.kind === "kysely") {
    return { call: `kyselyStore(${db})`, name: "kyselyStore", from: "trpc-rate-limit/kysely" };
  }
  if (storage.kind === "prisma") {
    const options = [
      ...(storage.model === "RateLimit" ? [] : [`model: "${storage.model}"`]),
      ...(storage.hidesPool ? ['pool: "own"'] : []),
    ];
    const given = options.length === 0 ? "" : `, { ${options.join(", ")} }`;
    return { call: `prismaStore(${db}${given})`, name: "prismaStore", from };
  }
  if (storage.client === "postgres") {
    return { call: `sqlStore(postgresDriver(${db}))`, name: "sqlStore", from };
  }
  const names = { postgresql: "pgStore", mysql: "mysqlStore", sqlite: "sqliteStore" };
  const name = names[storage.dialect];
  return { call: `${name}(${db})`, name, from };
}

/** The oldest adapter of Prisma with settings that the store can read; see docs/prisma.md. */
const SINCE = [6, 16, 1];

/** Whether the only `PrismaPg` of a package opens a pool inside of itself, from settings. */
export function hidesPool(member: Member): boolean {
  const range = member.ranges["@prisma/adapter-pg"] ?? "";
  const parts = /(\d+)\.(\d+)\.(\d+)/.exec(range)?.slice(1);
  const age = SINCE.reduce<number>((order, part, i) => order || Number(parts?.[i] ?? 99) - part, 0);
  if (age < 0) return false;
  return findInCode(member, /\bnew PrismaPg\b/, hiddenPoolIn) !== undefined;
}

function hiddenPoolIn({ program }: Code): true | undefined {
  const [call, ...others] = callsOf(program, "PrismaPg");
  const isHidden = call?.node.arguments[0]?.type === "ObjectExpression" && others.length === 0;
  return isHidden || undefined;
}
