/**
 * A promoted server whose clock is wrong, with two stores: one was started before the promotion, and one
 * after.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createRateLimiter, HOUR, MINUTE, pgStore, SECOND } from "../../server/index.js";
import { ask, createReplication, type Replication, skewedBy, until } from "./replication.js";
import { startSwitchProxy } from "./switch-proxy.js";

const CAPACITY = 60;
const limits = {
  bucket: { kind: "token bucket", rate: CAPACITY, period: MINUTE },
} as const;

let replication: Replication;
beforeAll(async () => {
  replication = await createReplication();
});
afterAll(() => replication[Symbol.asyncDispose]());

function openLimiter(url: string) {
  const pool = new pg.Pool({ connectionString: url });
  onTestFinished(() => pool.end());
  return createRateLimiter({ store: pgStore(pool), limits, logger: false });
}

type Limiter = ReturnType<typeof openLimiter>;

/** Takes tokens until a call is denied. Calls that fail are made again. */
async function drain(
  limiter: Limiter,
  key: string,
): Promise<{ taken: number; retryAfter: number }> {
  for (let taken = 0; ;) {
    const result = await limiter.limit("bucket", { key }).catch(() => undefined);
    if (result === undefined) continue;
    if (!result.ok) return { taken, retryAfter: result.retryAfter };
    taken++;
  }
}

/** Empties the bucket of a key, and replaces the primary by a server whose clock is wrong. */
async function promoteSkewed(interval: string) {
  const pair = await replication.startPair({ synchronous: true, standby: skewedBy(interval) });
  onTestFinished(() => pair[Symbol.asyncDispose]());
  const address = await startSwitchProxy(pair.primary.url);
  onTestFinished(() => address[Symbol.asyncDispose]());
  const old = openLimiter(address.url);
  await old.limit("bucket", { key: "empty", count: CAPACITY });
  const emptyAt = Date.now();
  await pair.primary.stop();
  address.switchTo(pair.standby.url);
  await pair.promote();
  const difference = "extract(epoch FROM clock_timestamp() - now())";
  const [row] = await ask(pair.standby.url, `SELECT abs(${difference}) > 3500 AS skewed`);
  expect(row).toEqual({ skewed: true });
  await drain(old, "other");
  const elapsed = () => Math.ceil((Date.now() - emptyAt) / SECOND);
  return { old, fresh: openLimiter(address.url), elapsed };
}

describe("a promoted server whose clock is an hour ahead", () => {
  it("refills each bucket once, and locks no process out", async () => {
    const { old, fresh, elapsed } = await promoteSkewed("1 hour");
    const { taken } = await drain(fresh, "empty");
    expect(taken).toBeGreaterThanOrEqual(CAPACITY);
    // The old store still goes by the old time, in which the row is from the future.
    let more = 0;
    await until(async () => {
      const { ok } = await old.limit("bucket", { key: "empty" }).catch(() => ({ ok: false }));
      if (ok) more++;
      return ok;
    });
    // One bucket for the hour that never was, and what refilled meanwhile.
    expect(taken + more).toBeLessThanOrEqual(CAPACITY + elapsed());
  });
});

describe("a promoted server whose clock is an hour behind", () => {
  it("refills nothing until its clock has caught up, says so, and `reset` heals the row", async () => {
    const { old, fresh, elapsed } = await promoteSkewed("-1 hour");
    for (const limiter of [fresh, old]) {
      const { taken, retryAfter } = await drain(limiter, "empty");
      // The old store goes by the old time until its next reading.
      expect(taken).toBeLessThanOrEqual(limiter === fresh ? 0 : elapsed());
      if (limiter === fresh) expect(retryAfter).toBeGreaterThan(HOUR - MINUTE);
      expect(retryAfter).toBeLessThanOrEqual(HOUR + MINUTE);
    }
    // Buckets that are new are full, and no fuller.
    expect((await drain(fresh, "new")).taken).toBeLessThanOrEqual(CAPACITY + elapsed());
    await fresh.reset("bucket", { key: "empty" });
    expect(await fresh.limit("bucket", { key: "empty" })).toMatchObject({ ok: true });
  });
});
