import { setImmediate } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import {
  createRateLimiter,
  MINUTE,
  prismaStore,
  RateLimitStoreError,
} from "../../../../server/index.js";
import type { SqliteClient } from "../../../support/clients.js";
import { createSqlite, intercept, type TestDatabase } from "../../../support/database.js";

const limits = { once: { kind: "token bucket", rate: 1, period: MINUTE } } as const;

/** The real client, with a gate that can delay its queries or make them fail. */
function gated({ prisma }: TestDatabase<SqliteClient>) {
  let opened = Promise.resolve();
  let open = () => {};
  let failure: Error | undefined;
  let queries = 0;
  const client = intercept(prisma, async () => {
    queries++;
    await opened;
    if (failure !== undefined) throw failure;
  });
  return {
    client,
    close() {
      opened = new Promise((resolve) => (open = resolve));
    },
    open: () => open(),
    fail(error: Error | undefined) {
      failure = error;
    },
    queries: () => queries,
  };
}

describe("a store that fails", () => {
  it("rejects the call within the timeout, and recovers by itself", async () => {
    await using database = await createSqlite();
    const gate = gated(database);
    const limiter = createRateLimiter({ store: prismaStore(gate.client), limits, timeout: 50 });
    gate.close();
    await expect(limiter.limit("once", { key: "a" })).rejects.toThrow(
      "the rate limit store did not answer within 50 ms",
    );
    gate.open();
    await expect(limiter.limit("once", { key: "b" })).resolves.toMatchObject({ ok: true });
  });

  it.each([
    ["nothing", undefined],
    ["no results", []],
  ])("is a store error if it answers with %s", async (_, answer) => {
    const apply = async () => answer as never;
    const store = { apply, using: () => ({ apply }) };
    const limiter = createRateLimiter({ store, limits });
    for (const call of [limiter.limit("once"), limiter.using(undefined as never).limit("once")]) {
      await expect(call).rejects.toThrow("did not answer one decision with one result");
    }
  });

  it("is bounded by one timer, even if the timeout is longer than the longest timer", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    const wait = new Promise<never>(() => {});
    const limiter = createRateLimiter({ store: { apply: () => wait }, limits, timeout: 2 ** 32 });
    void limiter.limit("once");
    await new Promise((resolve) => setTimeout(resolve, 20));
    const longest = timers.mock.calls.map(([, ms = 0]) => ms).filter((ms) => ms > MINUTE);
    expect(longest).toEqual([2e9]);
    timers.mockRestore();
  });

  it("consumes nothing for calls that were given up while they waited for their turn", async () => {
    await using database = await createSqlite();
    const gate = gated(database);
    const limiter = createRateLimiter({ store: prismaStore(gate.client), limits, timeout: 50 });
    gate.close();
    const first = limiter.limit("once", { key: "sent" }).catch((error: unknown) => error);
    await setImmediate();
    const waiting = ["x", "y", "z"].map((key) => limiter.limit("once", { key }));
    const settled = await Promise.allSettled(waiting);
    expect(settled.every(({ status }) => status === "rejected")).toBe(true);
    expect(await first).toBeInstanceOf(RateLimitStoreError);
    gate.open();
    for (const key of ["x", "y", "z"]) {
      expect(await limiter.check("once", { key })).toMatchObject({ ok: true });
    }
  });

  it("rejects with a store error and its cause, neither a denial nor a pass", async () => {
    await using database = await createSqlite();
    const gate = gated(database);
    const limiter = createRateLimiter({ store: prismaStore(gate.client), limits });
    const cause = new Error("connection refused");
    gate.fail(cause);
    const error: unknown = await limiter.limit("once").catch((e: unknown) => e);
    expect(error).toBeInstanceOf(RateLimitStoreError);
    expect(error).toMatchObject({ kind: "StoreFailure", cause });
    gate.fail(undefined);
    expect(await limiter.limit("once")).toMatchObject({ ok: true });
  });

  it("retries a conflict, which no caller sees", async () => {
    await using database = await createSqlite();
    const gate = gated(database);
    const limiter = createRateLimiter({ store: prismaStore(gate.client), limits });
    gate.fail(Object.assign(new Error("busy"), { code: "P1008" }));
    const call = limiter.limit("once");
    while (gate.queries() < 3) await setImmediate();
    gate.fail(undefined);
    expect(await call).toMatchObject({ ok: true });
  });
});
