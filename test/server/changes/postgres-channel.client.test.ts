/** How `postgresChannel` handles its connections, with fake clients and fake timers. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  changeDigest,
  postgresChannel,
  type PostgresChannelOptions,
  type PostgresClientLike,
  type PostgresNotification,
} from "../../../server/index.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeClient implements PostgresClientLike {
  ended = 0;
  readonly sent: string[] = [];
  private readonly listeners = new Map<string, ((what: never) => void)[]>();

  constructor(private readonly server: { isUp: boolean; hears: boolean }) {}

  async connect() {
    if (!this.server.isUp) throw new Error("connection refused");
  }
  async query(_text: string, values: unknown[] = []) {
    if (values.length === 0) return;
    const payload = String(values[1]);
    this.sent.push(payload);
    // PostgreSQL delivers a notification to its sender, too.
    if (this.server.hears) this.emit("notification", { channel: "c", payload });
  }
  async end() {
    this.ended++;
    this.emit("end");
  }
  on(event: string, listener: (what: never) => void) {
    this.listeners.set(event, [...(this.listeners.get(event) ?? []), listener]);
  }
  emit(event: string, what?: Error | PostgresNotification) {
    for (const listener of this.listeners.get(event) ?? []) listener(what as never);
  }
}

function start(options: PostgresChannelOptions = {}) {
  const clients: FakeClient[] = [];
  const server = { isUp: true, hears: true };
  const channel = postgresChannel(() => {
    const client = new FakeClient(server);
    clients.push(client);
    return client;
  }, options);
  const received: string[] = [];
  const stop = channel.subscribe((digest) => void received.push(digest));
  const notify = (payload: unknown) =>
    clients.at(-1)!.emit("notification", { channel: "c", payload: JSON.stringify(payload) });
  /** The digests that this client has sent. */
  const sent = (client = clients.at(-1)!) =>
    client.sent.flatMap((payload) => (JSON.parse(payload) as unknown[]).slice(1));
  return { clients, server, channel, received, stop, notify, sent };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const lost = new Error("connection lost");

it("sends the changes of 50 ms once, and ignores its own notifications", async () => {
  const { clients, channel, received, stop, notify, sent } = start();
  await pass(0);
  for (const key of ["a", "b", "a"]) void channel.publish(key);
  void channel.publish("c");
  await pass(49);
  expect(sent()).toEqual([]);
  await pass(1);
  const changes = ["a", "b", "c"];
  expect(sent()).toEqual(changes);
  void channel.publish("other");
  await pass(50);
  expect(sent()).toEqual([...changes, "other"]);
  for (const payload of clients[0]!.sent) notify(JSON.parse(payload));
  expect(received).toEqual([]);
  notify(["another process", "a", ["send", "a"], 7, { a: 1 }, "no digest", "c"]);
  expect(received).toEqual(["a", "c"]);
  stop();
  notify(["another process", "a"]);
  expect(received).toHaveLength(2);
});

it("keeps payloads below PostgreSQL's limit in bytes, and sends nothing if there are too many", async () => {
  const { clients, channel } = start();
  await pass(0);
  const publish = (many: number) => {
    for (let i = 0; i < many; i++) void channel.publish(changeDigest("send", `${i}`));
  };
  publish(3000);
  await pass(50);
  const sizes = clients[0]!.sent.slice(1).map((payload) => Buffer.byteLength(payload));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(7900);
  // Each payload is full: one more change would not have fitted.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(7900 - 14);
  publish(10_000);
  await pass(50);
  expect(clients[0]!.sent).toHaveLength(1 + sizes.length);
});

it("doubles the pause after each failed attempt up to 30 s, and starts again after a success", async () => {
  const { clients, server } = start();
  await pass(0);
  server.isUp = false;
  clients[0]!.emit("error", lost);
  let pause = 500;
  for (let attempts = 2; attempts < 10; attempts++) {
    await pass(pause - 1);
    expect(clients).toHaveLength(attempts - 1);
    await pass(1);
    expect(clients).toHaveLength(attempts);
    pause = Math.min(2 * pause, 30_000);
  }
  server.isUp = true;
  await pass(30_000);
  clients.at(-1)!.emit("end");
  const before = clients.length;
  await pass(500);
  expect(clients).toHaveLength(before + 1);
});

it("ends a lost connection once, even if several events report the loss", async () => {
  const { clients, channel, sent } = start();
  await pass(0);
  clients[0]!.emit("error", lost);
  clients[0]!.emit("end");
  void channel.publish("lost");
  await pass(100);
  expect(clients[0]).toMatchObject({ ended: 1 });
  expect(sent()).toEqual([]);
  await pass(400);
  clients[0]!.emit("error", lost);
  await pass(60_000);
  expect(clients).toHaveLength(2);
  void channel.publish("again");
  await pass(50);
  expect(sent()).toEqual(["again"]);
});

it("opens no connection after it was closed, and leaves no timers", async () => {
  for (const isLost of [false, true]) {
    const { clients, channel } = start();
    await pass(0);
    if (isLost) clients[0]!.emit("error", lost);
    void channel.publish("c");
    await channel.close();
    expect(vi.getTimerCount()).toBe(0);
    void channel.publish("c");
    channel.subscribe(() => {});
    await pass(60_000);
    expect(clients).toHaveLength(1);
    expect(clients[0]).toMatchObject({ ended: isLost ? 1 : expect.any(Number) });
  }
});

it("warns once if it does not hear its own notification, and goes on", async () => {
  const logger = { error: vi.fn(), warn: vi.fn() };
  const { clients, server, channel, sent } = start({ logger });
  server.hears = false;
  await pass(4999);
  expect(logger.warn).not.toHaveBeenCalled();
  await pass(1);
  expect(logger.warn).toHaveBeenCalledWith(expect.stringContaining("hears no notifications"));
  void channel.publish("a");
  await pass(50);
  expect(sent()).toEqual(["a"]);
  clients[0]!.emit("error", lost);
  await pass(60_000);
  expect(clients.length).toBeGreaterThan(1);
  expect(logger.warn).toHaveBeenCalledTimes(1);
});

it("does not warn if it hears itself", async () => {
  const logger = { error: vi.fn(), warn: vi.fn() };
  start({ logger });
  await pass(60_000);
  expect(logger.warn).not.toHaveBeenCalled();
});

it("closes its connection when it is idle, and opens one when it is needed", async () => {
  const { clients, channel, stop, sent } = start();
  await pass(180_000);
  expect(clients).toMatchObject([{ ended: 0 }]);
  stop();
  void channel.publish("a");
  await pass(60_000);
  expect(clients).toMatchObject([{ ended: 0 }]);
  await pass(120_000);
  expect(clients).toMatchObject([{ ended: 1 }]);
  expect(vi.getTimerCount()).toBe(0);
  void channel.publish("b");
  await pass(50);
  expect(clients).toHaveLength(2);
  expect(sent()).toEqual(["b"]);
});

it("gives up reconnecting when it is idle", async () => {
  const { clients, server, stop } = start();
  await pass(0);
  server.isUp = false;
  clients[0]!.emit("error", lost);
  stop();
  await pass(300_000);
  expect(vi.getTimerCount()).toBe(0);
});
