/**
 * A name that leads to a standby, as when DNS or a proxy is out of date. The standby refuses every write
 * (25006). The pool keeps such connections, also when the name leads to the primary again.
 */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, RateLimitStoreError } from "../../server/index.js";
import { createReplication, type Pair, type Replication } from "./replication.js";
import { open, type OpenedStore, type OpenerName, openers } from "./stores.js";
import { startSwitchProxy, type SwitchProxy } from "./switch-proxy.js";
import { limits } from "./tokens.js";

/** Of the pool. Each of them is open to the standby before the name changes. */
const CONNECTIONS = 3;
/** Of the calls that fail before the test gives up. */
const MOST = 20;

/**
 * Kysely and postgres-js give a connection back whatever has happened on it, and hide it from a store.
 * `docs/guides/several-machines.md` says what to do.
 */
const STAY: readonly OpenerName[] = ["kyselyStore, no pool", "drizzleStore, postgres-js"];
const names = (Object.keys(openers) as OpenerName[]).filter((name) => !STAY.includes(name));

let replication: Replication;
let pair: Pair;
let address: SwitchProxy;
beforeAll(async () => {
  replication = await createReplication();
  pair = await replication.startPair({ synchronous: true });
  address = await startSwitchProxy(pair.primary.url);
});
afterAll(async () => {
  await address[Symbol.asyncDispose]();
  await pair[Symbol.asyncDispose]();
  await replication[Symbol.asyncDispose]();
});

/** Opens a store whose connections all go to the standby, while its name leads to the primary. */
async function openStale(name: OpenerName): Promise<OpenedStore> {
  address.switchTo(pair.standby.url);
  const opened = open(name, address.url, { max: CONNECTIONS, idleTimeoutMillis: 0 });
  // Not awaited: Drizzle never gives back a connection on which its BEGIN has failed.
  onTestFinished(() => void opened.close().catch(() => {}));
  const sleeps = Array.from({ length: CONNECTIONS }, () =>
    opened.run("SELECT pg_sleep(0.1)::text"),
  );
  await Promise.all(sleeps);
  address.switchTo(pair.primary.url);
  return opened;
}

/** Calls until as many calls in a row are answered as there are connections. Counts the failures. */
async function failuresOf(call: () => Promise<unknown>): Promise<number> {
  let failed = 0;
  for (let answered = 0; answered <= CONNECTIONS && failed < MOST;) {
    try {
      await call();
      answered++;
    } catch (error) {
      expect(error).toBeInstanceOf(RateLimitStoreError);
      expect(String(error)).toMatch(/read-only|hot standby/);
      answered = 0;
      failed++;
    }
  }
  return failed;
}

describe("connections to a standby", () => {
  it.each(names)("are left by %s, one for each call that fails", async (name) => {
    const { store } = await openStale(name);
    const limiter = createRateLimiter({ store, limits, logger: false });
    const startedAt = performance.now();
    const failed = await failuresOf(() => limiter.limit("tokens", { key: "call" }));
    const after = Math.round(performance.now() - startedAt);
    console.log(`${name}: ${failed} calls failed, and it is on the primary after ${after} ms`);
    expect(failed).toBeGreaterThan(0);
    expect(failed).toBeLessThanOrEqual(CONNECTIONS);
  });

  it.each(names)("are left by transactions of %s, after a few that fail", async (name) => {
    const { store } = await openStale(name);
    const limiter = createRateLimiter({ store, limits, logger: false });
    const startedAt = performance.now();
    const transact = () =>
      limiter.transaction(({ limit }) => limit("tokens", { key: "transaction" }));
    const failed = await failuresOf(transact);
    const after = Math.round(performance.now() - startedAt);
    console.log(`${name}, transactions: ${failed} failed, on the primary after ${after} ms`);
    expect(failed).toBeGreaterThan(0);
    // A client may begin a transaction on another connection than the one that has just failed.
    expect(failed).toBeLessThanOrEqual(2 * CONNECTIONS);
  });

  it.each(STAY)("are kept by %s, so that every call fails", async (name) => {
    const { store } = await openStale(name);
    const limiter = createRateLimiter({ store, limits, logger: false });
    const failed = await failuresOf(() => limiter.limit("tokens", { key: "call" }));
    expect(failed).toBe(MOST);
  });
});
