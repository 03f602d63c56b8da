/** The driver of Prisma 6 and 7, with what is particular to a version or to an adapter. */
import { MAX_TIMEOUT } from "../../../../core/durations.js";
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { DialectName, SqlConnection, SqlDriver, SqlRow } from "../../sql/driver.js";
import * as mysqlErrors from "../../sql/mysql/errors.js";
import { quotedTable, type TableName } from "../../sql/sql.js";
import { renewingTexts } from "../prepared-texts.js";
import { isD1Busy } from "../d1.js";
import { committing, isBefore7, mayCommitTwice, prisma6Connection } from "./prisma-6.js";
import { committingAlone, isBetterSqlite3 } from "./prisma-better-sqlite3.js";
import type { ClientInternals, PrismaLike, PrismaRaw, TransactionOf } from "./prisma-client.js";
import { letAdapterName, sendingNamed } from "./prisma-names.js";
import { isLibsql, leavingBusy, libsqlTransaction } from "./prisma-libsql.js";

const DIALECTS = new Map<string | undefined, DialectName>([
  ["sqlite", "sqlite"],
  ["postgresql", "postgresql"],
  ["cockroachdb", "postgresql"],
  ["mysql", "mysql"],
]);

/** Adapters for D1. These adapters run the statements of a transaction one by one, and do not say so. */
const D1 = new Set<unknown>(["@prisma/adapter-d1", "@prisma/adapter-d1-http"]);

export function isD1Client(prisma: object): boolean {
  const { _engineConfig: config } = prisma as ClientInternals;
  return D1.has(config?.adapter?.adapterName);
}

/** A client of Prisma 6 or 7. */
export function openPrisma<TClient extends PrismaLike>(
  prisma: TClient,
  model: string,
  overridesModel: string,
  isNaming: boolean,
) {
  const internals = prisma as ClientInternals;
  const { _activeProvider: provider, _runtimeDataModel: schema } = internals;
  const dialect = DIALECTS.get(provider);
  if (dialect === undefined) {
    const known = [...DIALECTS.keys()].join(", ");
    if (typeof provider !== "string") {
      const message =
        "prismaStore() got an object without a Prisma provider, such as a mock of the client; give " +
        "it the generated client. In tests with a mock, use memoryStore(), and import the limits " +
        "from a file that makes no store";
      throw new RateLimitConfigError("the Prisma client", prisma, { message });
    }
    throw new RateLimitConfigError("the Prisma client's provider", provider, `one of ${known}`);
  }
  const models = schema?.models;
  if (models !== undefined && !Object.hasOwn(models, model)) {
    const known = Object.keys(models).join(", ") || "none";
    const message =
      `the Prisma client has no model "${model}": run "npx prisma generate" if the schema has it since ` +
      `the client was generated, and restart; or name one of the client's models (${known})`;
    throw new RateLimitConfigError("model", model, { message });
  }
  const named = (name: string) => ({
    name: models?.[name]?.dbName ?? name,
    schema: models?.[name]?.schema ?? schemaOfAdapter(internals),
  });
  const table: TableName = { ...named(model), overrides: named(overridesModel) };
  return { driver: prismaDriver(prisma, dialect, table, isNaming), table, provider };
}

/** The schema that the models without an `@@schema` are in; the `search_path` does not change it. */
function schemaOfAdapter({ _engineConfig: config }: ClientInternals): string | undefined {
  const schema = config?.adapter?.options?.schema;
  return typeof schema === "string" ? schema : undefined;
}

function prismaDriver<TClient extends PrismaLike>(
  prisma: TClient,
  dialect: DialectName,
  table: TableName,
  isNaming: boolean,
): SqlDriver<TransactionOf<TClient>> {
  const internals = prisma as ClientInternals;
  const { _engineConfig: config, _clientVersion: version, _activeProvider: provider } = internals;
  const adapterName = config?.adapter?.adapterName;
  const isOld = isBefore7(version);
  const connect = isOld ? (client: PrismaRaw) => prisma6Connection(client, dialect) : connectionOf;
  const ofPrisma = connect(prisma);
  // The adapter for MariaDB prepares all statements.
  const own = dialect === "mysql" ? renewingTexts(ofPrisma, mysqlErrors.isUnprepared) : ofPrisma;
  const isNamed = isNaming && letAdapterName(prisma);
  const driver: SqlDriver<TransactionOf<TClient>> = {
    dialect,
    transactionDefaults: config?.transactionOptions,
    ...(isBetterSqlite3(adapterName)
      ? committingAlone(own, prisma.$transaction.bind(prisma) as never, connect)
      : leavingBusy(isNamed ? sendingNamed(own) : own, prisma)),
    within: (tx) => connect(tx as PrismaRaw),
    transaction(run, { isolationLevel, timeout, maxWait }) {
      const transact = prisma.$transaction as (
        body: typeof run,
        options: object,
      ) => ReturnType<typeof run>;
      const options = {
        isolationLevel,
        // With a longer time, Prisma's own timers would end at once.
        ...(timeout !== undefined && { timeout: Math.min(timeout, MAX_TIMEOUT) }),
        ...(maxWait !== undefined && { maxWait: Math.min(maxWait, MAX_TIMEOUT) }),
      };
      const within = (body: typeof run) => transact.call(prisma, body, options);
      if (isLibsql(adapterName)) return libsqlTransaction(within, run, quotedTable(table));
      return within(isOld && mayCommitTwice(provider) ? committing(run) : run);
    },
  };
  if (!isD1Client(prisma)) return driver;
  const { transaction: _ignored, ...single } = driver;
  return { ...single, isConflict: isD1Busy };
}

function connectionOf(client: PrismaRaw): SqlConnection {
  return {
    query: async (text, params) => (await client.$queryRawUnsafe(text, ...params)) as SqlRow[],
    execute: async (text, params) => client.$executeRawUnsafe(text, ...params),
  };
}
