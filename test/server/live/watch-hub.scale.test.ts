import { initTRPC } from "@trpc/server";
import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  MINUTE,
  prismaStore,
  type RateLimitSnapshot,
} from "../../../server/index.js";
import { createRateLimitTRPC, SHARED_BUCKET } from "../../../server/trpc/index.js";
import { createSqlite, intercept } from "../../support/database.js";

const INTERVAL = 50;

async function startApp(interval = INTERVAL) {
  const database = await createSqlite();
  let queries = 0;
  const limiter = createRateLimiter({
    store: prismaStore(intercept(database.prisma, async () => void queries++)),
    clock: createManualClock(),
    limits: {
      own: { kind: "token bucket", rate: 100, period: MINUTE },
      shared: { kind: "token bucket", rate: 100, period: MINUTE },
    },
  });
  let listeners = 0;
  const counted = {
    ...limiter,
    onChange(listener: Parameters<typeof limiter.onChange>[0]) {
      listeners++;
      const stop = limiter.onChange(listener);
      return () => {
        listeners--;
        stop();
      };
    },
  };
  const t = initTRPC.context<{ user: string }>().create();
  const rl = createRateLimitTRPC({
    t,
    limiter: counted,
    interval,
    key: ({ ctx, name }) => (name === "own" ? ctx.user : SHARED_BUCKET),
  });
  const createCaller = t.createCallerFactory(rl.router);

  /** Opens a stream like a connection, and ends it by its signal. */
  async function connect(
    user: string,
    onSnapshot: (snapshot: RateLimitSnapshot) => void = () => {},
  ) {
    const connection = new AbortController();
    const stream = await createCaller({ user }, { signal: connection.signal }).watch({
      items: [{ name: "own" }, { name: "shared" }],
    });
    const ended = (async () => {
      for await (const snapshot of stream) onSnapshot(snapshot);
    })();
    return {
      async close() {
        connection.abort();
        await ended;
      },
    };
  }
  return {
    limiter,
    connect,
    queries: () => queries,
    listeners: () => listeners,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

const ticks = (count: number) => new Promise((resolve) => setTimeout(resolve, count * INTERVAL));

describe("many readers", () => {
  it("cost one query per tick together, and none once they have left", async () => {
    await using app = await startApp();
    let seen = 0;
    const open = await Promise.all(
      Array.from({ length: 500 }, (_, i) => app.connect(`user ${i}`, () => seen++)),
    );
    await vi.waitFor(() => expect(seen).toBe(1000));
    const before = app.queries();
    await ticks(6);
    expect(app.queries() - before).toBeGreaterThan(0);
    expect(app.queries() - before).toBeLessThanOrEqual(7);
    await Promise.all(open.map(({ close }) => close()));
    expect(app.listeners()).toBe(0);
    const after = app.queries();
    await ticks(4);
    expect(app.queries()).toBe(after);
  });

  it("cost no query while nothing changes with an interval of Infinity", async () => {
    await using app = await startApp(Infinity);
    let seen = 0;
    const { close } = await app.connect("user", () => seen++);
    await vi.waitFor(() => expect(seen).toBe(2));
    const before = app.queries();
    await ticks(6);
    expect(app.queries()).toBe(before);
    await close();
  });

  it("receive one change together, each once", async () => {
    await using app = await startApp();
    const seen: number[] = [];
    const open = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        app.connect(`user ${i}`, ({ name, value }) => name === "shared" && seen.push(value)),
      ),
    );
    await vi.waitFor(() => expect(seen).toHaveLength(200));
    const before = app.queries();
    await app.limiter.limit("shared");
    await vi.waitFor(() => expect(seen).toHaveLength(400));
    expect(seen.slice(200).every((value) => value === 99)).toBe(true);
    // The charge takes two queries and the new snapshots one. A tick may have come between.
    expect(app.queries() - before).toBeLessThanOrEqual(5);
    await Promise.all(open.map(({ close }) => close()));
  });

  it("are removed when they leave, 10,000 of them", async () => {
    await using app = await startApp();
    let most = 0;
    for (let i = 0; i < 100; i++) {
      const open = await Promise.all(
        Array.from({ length: 100 }, (_, j) => app.connect(`user ${i} ${j}`)),
      );
      // Some leave before their first snapshot, and some after it.
      if (i % 2 === 0) await ticks(0.1);
      most = Math.max(most, app.listeners());
      await Promise.all(open.map(({ close }) => close()));
      expect(app.listeners()).toBe(0);
    }
    expect(most).toBe(1);
    const after = app.queries();
    await ticks(4);
    expect(app.queries()).toBe(after);
  });
});
