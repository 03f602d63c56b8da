/** Where the limits are kept: what the application uses for its own data. */
import type { DialectName } from "../../server/store/sql/driver.js";
import { type Application, findSource } from "./application.js";

export type Storage =
  | { kind: "prisma"; model: string }
  | { kind: "drizzle"; table: { name: string; file: string } }
  | { kind: "kysely"; dialect: DialectName }
  | { kind: "plain"; client: PlainClient; dialect: DialectName }
  | { kind: "memory" };

export const PLAIN_CLIENTS = {
  pg: "postgresql",
  mysql2: "mysql",
  mariadb: "mysql",
  "better-sqlite3": "sqlite",
  "@libsql/client": "sqlite",
  "node:sqlite": "sqlite",
  postgres: "postgresql",
} as const satisfies Record<string, DialectName>;

/** A client without an ORM, in the order in which they are looked for. */
export type PlainClient = keyof typeof PLAIN_CLIENTS;

/** Where there is neither Prisma nor Drizzle. A tool for development is not the database. */
export async function findStorage({
  root,
  dependencies,
  sources,
}: Application): Promise<Extract<Storage, { kind: "kysely" | "plain" | "memory" }>> {
  let client: PlainClient | undefined;
  for (const name of Object.keys(PLAIN_CLIENTS) as PlainClient[]) {
    const isUsed = name.startsWith("node:")
      ? (await findSource(root, sources, /["']node:sqlite["']/)) !== undefined
      : dependencies.has(name);
    if (isUsed) client ??= name;
  }
  if (client === undefined) return { kind: "memory" };
  const dialect = PLAIN_CLIENTS[client];
  return dependencies.has("kysely")
    ? { kind: "kysely", dialect }
    : { kind: "plain", client, dialect };
}
