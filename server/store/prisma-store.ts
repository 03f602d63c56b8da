/**
 * Limits in the application's own database, through its own Prisma client: one row and two numbers
 * per limit and key, in a table that the application migrates with the rest of its schema.
 */
import { RateLimitConfigError, RateLimitStoreError } from "../../core/errors.js";
import { createDirect } from "./direct.js";
import { createLane } from "./lane.js";
import {
  inTransaction,
  type PrismaLike,
  type PrismaRaw,
  type TransactionOf,
} from "./prisma/client.js";
import type { Connection, Dialect } from "./prisma/dialect.js";
import { mysql } from "./prisma/mysql.js";
import { postgresql } from "./prisma/postgresql.js";
import { sqlite } from "./prisma/sqlite.js";
import type { RowIO } from "./row-io.js";
import { retryConflicts } from "./retry.js";
import type { RateLimitStore } from "./store.js";

export interface PrismaStoreOptions {
  /**
   * The name of the model in the Prisma schema; a `@@map` on it is followed.
   * @default "RateLimit"
   */
  model?: string;
  /**
   * `"serializable"`: decisions run in transactions of that level, those that wait together in one,
   * and conflicts are retried. Decisions are exact either way; this is for databases whose policy
   * or auditing asks for it, and costs throughput.
   * @default guarded statements at the database's own level
   */
  isolation?: "serializable";
}

/** What a generated client tells about itself, though not in its types. */
interface ClientInternals {
  _activeProvider?: string;
  _runtimeDataModel?: { models?: Record<string, { dbName?: string | null }> };
}

const DIALECTS = new Map<string | undefined, Dialect>([
  ["sqlite", sqlite],
  ["postgresql", postgresql],
  ["cockroachdb", postgresql],
  ["mysql", mysql],
]);

/** How long conflicts of a transaction are retried for, ms. */
const RETRY_FOR = 10_000;

/**
 * A store on the given client. One store per client and process: calls that share a store share
 * their round trips.
 *
 * @throws RateLimitConfigError when the client's provider is not supported, or has no such model.
 */
export function prismaStore<TClient extends PrismaLike>(
  prisma: TClient,
  options: PrismaStoreOptions = {},
): RateLimitStore<TransactionOf<TClient>> {
  const { model = "RateLimit", isolation } = options;
  if (isolation !== undefined && isolation !== "serializable") {
    throw new RateLimitConfigError("isolation", isolation, '"serializable", or not given');
  }
  const serializable = isolation === "serializable";
  const { _activeProvider: provider, _runtimeDataModel: schema } = prisma as ClientInternals;
  const dialect = DIALECTS.get(provider);
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].join(", ");
    throw new RateLimitConfigError("the Prisma client's provider", provider, `one of ${known}`);
  }
  const models = schema?.models;
  if (models !== undefined && !Object.hasOwn(models, model)) {
    throw new RateLimitConfigError(
      "model",
      model,
      `one of the Prisma schema's models (${Object.keys(models).join(", ")})`,
    );
  }
  const table = models?.[model]?.dbName ?? model;
  const connection: Connection = { client: prisma, table, own: prisma, onLocked: "skip" };
  const common = {
    isConflict: dialect.isConflict,
    wrap: (error: unknown) => storeError(error, table),
  };
  const inside = (client: PrismaRaw, onLocked: Connection["onLocked"]) =>
    dialect.io({ client, table, own: undefined, onLocked });
  const join = (client: PrismaRaw, onLocked: Connection["onLocked"]) =>
    createDirect({ ...inside(client, onLocked), ...common });
  const locked: RowIO["locked"] = (run) =>
    serializable
      ? inTransaction(prisma, (tx) => run(inside(tx, "fail")), { isolationLevel: "Serializable" })
      : inTransaction(prisma, (tx) => run(inside(tx, "wait")), { isolationLevel: "ReadCommitted" });

  return {
    ...createLane({
      ...dialect.io(connection),
      ...common,
      serializable,
      locked: dialect.hasRowLocks || serializable ? locked : undefined,
      // Two Serializable transactions side by side would conflict over pages that they share.
      maxTrips: serializable ? 1 : dialect.maxTrips,
    }),
    using: (tx) => join(tx as PrismaRaw, "wait"),
    transaction(run, { retryFor = RETRY_FOR, ...rest }) {
      const transact = () =>
        inTransaction(prisma, (tx) => run(tx as TransactionOf<TClient>, join(tx, "fail")), {
          isolationLevel: "Serializable",
          ...rest,
        });
      return retryConflicts(transact, { retryFor, isConflict: common.isConflict });
    },
    list: (name, after, count) =>
      dialect.list(connection, name, after, count).catch((error: unknown) => {
        throw common.wrap(error);
      }),
  };
}

function storeError(cause: unknown, table: string): RateLimitStoreError {
  const text = cause instanceof Error ? cause.message : String(cause);
  // Prisma's messages begin with the call site; what the database said comes last.
  const said = text.trim().split("\n").at(-1);
  const hint = /no such table|does not exist/.test(text)
    ? ` (is the model of table "${table}" in the Prisma schema, and migrated?)`
    : "";
  return new RateLimitStoreError(`the rate limit store failed: ${said}${hint}`, { cause });
}
