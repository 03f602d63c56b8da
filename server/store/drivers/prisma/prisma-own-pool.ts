/**
 * A pool of the store's own, made from the settings of Prisma's adapter for PostgreSQL. The adapter hides
 * the pool of `new PrismaPg({ connectionString })`, and through Prisma a decision takes about twice the
 * time. The adapter makes the pool, so the package needs no `pg`.
 *
 * The pool is small: calls that wait share a statement, so a store seldom has more than two of them in
 * flight. An idle connection is closed after `idleTimeoutMillis` of the adapter's settings, keeps no process
 * alive, and ends with the client's `$disconnect`.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection, SqlDriver, TransactionDriver } from "../../sql/driver.js";
import type { PgPoolLike, PgQueryable } from "../pg/pg-client.js";
import { pgDriver, type PgDriverOptions } from "../pg/pg-driver.js";
import type { ClientInternals } from "./prisma-client.js";

/** The most connections of the pool. */
export const OWN_CONNECTIONS = 4;

type Pool = PgPoolLike & { end(): Promise<void> };

/** The parts of `PrismaPg` that its types do not show. */
interface Factory {
  readonly adapterName?: unknown;
  /** The settings of the pool. */
  readonly config?: { readonly max?: number };
  /** Opens a pool. `underlyingDriver` returns the pool. */
  connect(): Promise<{ underlyingDriver(): Pool }>;
}

type Pooled = TransactionDriver<PgQueryable>;

/**
 * Sends statements through a pool of the store's own.
 *
 * @param driver of the Prisma client.
 * @throws RateLimitConfigError if the client has no adapter for PostgreSQL of Prisma 6.16 or later.
 */
export function throughOwnPool(
  prisma: object,
  driver: SqlDriver,
  { prepare }: PgDriverOptions,
): SqlDriver<SqlConnection> {
  const factory = factoryOf(prisma);
  let pool: Pool | undefined;
  let pooled: Pooled | undefined;
  let opening: Promise<Pooled> | undefined;
  const listeners = new Set<(error: unknown) => void>();

  async function open(): Promise<Pooled> {
    pool = (await connect(factory)).underlyingDriver();
    pooled = pgDriver(pool, { prepare: prepare ?? "if direct" });
    pooled.onPoolError?.((error) => listeners.forEach((listener) => listener(error)));
    return pooled;
  }
  const opened = (): Promise<Pooled> => (opening ??= open().catch(failedToOpen));
  const failedToOpen = (error: unknown): never => {
    opening = undefined;
    throw error;
  };
  beforeDisconnect(prisma, async () => {
    const ended = pool;
    pool = pooled = opening = undefined;
    await ended?.end();
  });

  return {
    dialect: driver.dialect,
    query: (...query) => pooled?.query(...query) ?? opened().then((own) => own.query(...query)),
    execute: (...query) =>
      pooled?.execute(...query) ?? opened().then((own) => own.execute(...query)),
    within: (connection) => connection,
    async transaction(run, options) {
      const { transaction, within } = await opened();
      return transaction((tx) => run(within(tx)), options);
    },
    isExhausted: () => pooled?.isExhausted?.() ?? false,
    onPoolError(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function factoryOf(prisma: object): Factory {
  const { _engineConfig: config } = prisma as ClientInternals;
  const factory = (config?.adapter ?? {}) as Partial<Factory>;
  const isKnown = factory.adapterName === "@prisma/adapter-pg" && factory.config !== undefined;
  if (isKnown && typeof factory.connect === "function") return factory as Factory;
  throw new RateLimitConfigError("pool", "own", { message: NO_ADAPTER });
}

const NO_ADAPTER =
  'pool: "own" needs a client with the adapter PrismaPg of @prisma/adapter-pg, 6.16.1 or later, whose ' +
  "settings the pool gets; on other databases, give prismaStore() a small pool, or leave pool out";

/** Lets the adapter open a pool with other settings than its own. */
function connect(factory: Factory): ReturnType<Factory["connect"]> {
  const { config } = factory;
  const max = Math.min(config!.max ?? OWN_CONNECTIONS, OWN_CONNECTIONS);
  const own = Object.create(factory, {
    config: { value: { ...config, max, allowExitOnIdle: true } },
    // A pool of the application that the adapter was given stays with Prisma.
    externalPool: { value: null },
  }) as Factory;
  return own.connect();
}

/** Runs `end` before the client disconnects. */
function beforeDisconnect(prisma: object, end: () => Promise<void>): void {
  const client = prisma as { $disconnect?: () => Promise<void> };
  const { $disconnect: disconnect } = client;
  if (disconnect === undefined || Object.isFrozen(prisma)) return;
  client.$disconnect = async () => {
    await end();
    await disconnect.call(prisma);
  };
}
