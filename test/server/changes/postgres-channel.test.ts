import pg from "pg";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  changeDigest,
  createRateLimiter,
  memoryStore,
  MINUTE,
  postgresChannel,
  prismaStore,
} from "../../../server/index.js";
import { createPostgres } from "../../support/database.js";

const hot = changeDigest("send", "é 1");
const shared = changeDigest("send", undefined);
const limits = { send: { kind: "token bucket", rate: 1000, period: MINUTE } } as const;

async function start(processes: number) {
  const database = await createPostgres();
  const clients: pg.Client[] = [];
  const connect = () => {
    const client = new pg.Client({ connectionString: database.url });
    clients.push(client);
    return client;
  };
  const channels = Array.from({ length: processes }, () => postgresChannel(connect));
  onTestFinished(() => database[Symbol.asyncDispose]());
  onTestFinished(async () => void (await Promise.all(channels.map((channel) => channel.close()))));
  const all = channels.map((channel) => {
    const store = prismaStore(database.connect());
    const limiter = createRateLimiter({ store, limits, channel, clock: () => 0 });
    const received: string[] = [];
    limiter.onChange((digest) => void received.push(digest));
    return { limiter, received };
  });
  const listening = () =>
    database.prisma.$queryRaw<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query LIKE '%pg_notify%'
        AND datname = current_database() AND pid <> pg_backend_pid()`;
  await vi.waitFor(async () => expect(await listening()).toHaveLength(processes));
  return { all, database, connect, listening };
}

describe("postgresChannel", () => {
  it("notifies the other processes of a change at once, but not of a denied call", async () => {
    const { all } = await start(3);
    const [one, two, three] = all as [(typeof all)[0], (typeof all)[0], (typeof all)[0]];
    await one.limiter.limit("send", { key: "é 1" });
    await vi.waitFor(() => expect([two.received, three.received]).toEqual([[hot], [hot]]));
    await two.limiter.limit("send", { count: 1000 });
    await vi.waitFor(() => expect(one.received).toEqual([hot, shared]));
    await three.limiter.limit("send");
    await three.limiter.refund("send", { key: "é 1" });
    await vi.waitFor(() => expect(two.received.at(-1)).toBe(hot));
    expect(two.received.filter((change) => change === shared)).toHaveLength(1);
  });

  it("sends the changes of several decisions in one notification", async () => {
    const { all, connect } = await start(1);
    const listener = connect();
    await listener.connect();
    const payloads: string[] = [];
    listener.on("notification", ({ payload }) => payloads.push(payload!));
    await listener.query("LISTEN rate_limit");
    const { limiter } = all[0]!;
    await Promise.all(Array.from({ length: 500 }, () => limiter.limit("send", { key: "hot" })));
    await vi.waitFor(() => expect(payloads.length).toBeGreaterThan(0));
    expect(payloads.length).toBeLessThan(20);
    payloads.length = 0;
    const key = "k".repeat(180);
    await Promise.all(
      Array.from({ length: 200 }, (_, i) => limiter.limit("send", { key: `${key}${i}` })),
    );
    await vi.waitFor(() => {
      const keys = payloads.flatMap((payload) => (JSON.parse(payload) as unknown[]).slice(1));
      expect(keys).toHaveLength(200);
    });
    await listener.end();
  });

  it("sends neither names nor keys", async () => {
    const { all, connect } = await start(1);
    const listener = connect();
    await listener.connect();
    const payloads: string[] = [];
    listener.on("notification", ({ payload }) => payloads.push(payload!));
    await listener.query("LISTEN rate_limit");
    await all[0]!.limiter.limit("send", { key: "ada@example.com" });
    await vi.waitFor(() => expect(payloads).toHaveLength(1));
    expect(payloads[0]).toContain(changeDigest("send", "ada@example.com"));
    expect(payloads[0]).not.toMatch(/ada|example|send/);
    await listener.end();
  });

  it("carries messages to the other processes, and drops what is too long or too much", async () => {
    const { connect } = await start(1);
    const [one, two] = [postgresChannel(connect), postgresChannel(connect)];
    onTestFinished(async () => void (await Promise.all([one.close(), two.close()])));
    const received: unknown[] = [];
    const own: unknown[] = [];
    one.receive!((message) => void own.push(message));
    const stop = two.receive!((message) => void received.push(message));
    // A message waits for its connection, and so both may be late.
    await vi.waitFor(() => {
      one.send!("hello");
      expect(received).toContain("hello");
    });
    one.send!({ text: "漢".repeat(2650) });
    one.send!({ text: "漢".repeat(2550), list: [1, null] });
    one.send!("last");
    await vi.waitFor(() => expect(received.at(-1)).toBe("last"));
    expect(received.filter((message) => message !== "hello")).toEqual([
      { text: "漢".repeat(2550), list: [1, null] },
      "last",
    ]);
    received.length = 0;
    for (let i = 0; i < 100; i++) one.send!(i);
    await vi.waitFor(() => expect(received).toContain(15));
    one.send!("after");
    await vi.waitFor(() => expect(received).toContain("after"));
    expect(received.filter((message) => typeof message === "number")).toHaveLength(16);
    stop();
    received.length = 0;
    const other: unknown[] = [];
    two.receive!((message) => void other.push(message));
    one.send!("nobody");
    await vi.waitFor(() => expect(other).toEqual(["nobody"]));
    expect([received, own]).toEqual([[], []]);
  });

  it("reconnects after its connection was lost, and calls go on meanwhile", async () => {
    const { all, database, listening } = await start(2);
    const [one, two] = all as [(typeof all)[0], (typeof all)[0]];
    for (const { pid } of await listening()) {
      await database.prisma.$queryRaw`SELECT pg_terminate_backend(${pid}::int)`;
    }
    await expect(one.limiter.limit("send")).resolves.toMatchObject({ ok: true });
    await vi.waitFor(async () => expect(await listening()).toHaveLength(2), { timeout: 10_000 });
    await one.limiter.limit("send", { key: "after" });
    await vi.waitFor(() => expect(two.received).toContain(changeDigest("send", "after")));
  });

  it("retries if creating the client throws, and calls go on meanwhile", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const connect = vi.fn((): pg.Client => {
      throw new TypeError("Invalid URL");
    });
    const channel = postgresChannel(connect);
    const limiter = createRateLimiter({ store: memoryStore(), limits, channel });
    limiter.onChange(() => {});
    await expect(limiter.limit("send")).resolves.toMatchObject({ ok: true });
    expect(connect).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connect.mock.calls.length).toBeGreaterThan(2);
    await channel.close();
    const tried = connect.mock.calls.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(connect).toHaveBeenCalledTimes(tried);
  });

  it("ignores invalid payloads", async () => {
    const { all, database } = await start(1);
    for (const payload of ["", "no json", "{}", '["x",1,[],[1],{"a":1}]']) {
      await database.prisma.$queryRaw`SELECT pg_notify('rate_limit', ${payload})::text`;
    }
    await database.prisma.$queryRaw`
      SELECT pg_notify('rate_limit', ${JSON.stringify(["x", ["send", "k"], "no digest", changeDigest("send", "k")])})::text`;
    await vi.waitFor(() => expect(all[0]!.received).toEqual([changeDigest("send", "k")]));
    expect(() => postgresChannel(() => new pg.Client(), { channel: 'a"; DROP' })).toThrow(
      /channel must be 1 to 63 letters/,
    );
  });
});
