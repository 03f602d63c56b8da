/** How `postgresChannel` handles its connections, with fake clients and fake timers. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import {
  postgresChannel,
  type PostgresClientLike,
  type PostgresNotification,
} from "../../server/index.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

class FakeClient implements PostgresClientLike {
  ended = 0;
  readonly sent: string[] = [];
  private readonly listeners = new Map<string, ((what: never) => void)[]>();

  constructor(private readonly isUp: () => boolean) {}

  async connect() {
    if (!this.isUp()) throw new Error("connection refused");
  }
  async query(_text: string, values: unknown[] = []) {
    if (values.length > 0) this.sent.push(String(values[1]));
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

function start() {
  const clients: FakeClient[] = [];
  const server = { isUp: true };
  const channel = postgresChannel(() => {
    const client = new FakeClient(() => server.isUp);
    clients.push(client);
    return client;
  });
  const received: unknown[][] = [];
  const stop = channel.subscribe((...change) => received.push(change));
  const notify = (payload: unknown) =>
    clients.at(-1)!.emit("notification", { channel: "c", payload: JSON.stringify(payload) });
  /** The names and keys that this client has sent. */
  const sent = (client = clients.at(-1)!) =>
    client.sent.flatMap((payload) => (JSON.parse(payload) as unknown[]).slice(1));
  return { clients, server, channel, received, stop, notify, sent };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const lost = new Error("connection lost");

it("sends the changes of 50 ms once, and ignores its own notifications", async () => {
  const { clients, channel, received, stop, notify, sent } = start();
  await pass(0);
  for (const key of ["a", "b", "a"]) void channel.publish("send", key);
  void channel.publish("send", undefined);
  await pass(49);
  expect(sent()).toEqual([]);
  await pass(1);
  const changes = [["send", "a"], ["send", "b"], ["send"]];
  expect(sent()).toEqual(changes);
  void channel.publish("other", undefined);
  await pass(50);
  expect(sent()).toEqual([...changes, ["other"]]);
  notify(JSON.parse(clients[0]!.sent[0]!));
  expect(received).toEqual([]);
  notify(["another process", ["send", "a"], ["send", 7], ["send", { a: 1 }], ["send"]]);
  expect(received).toEqual([
    ["send", "a"],
    ["send", undefined],
  ]);
  stop();
  notify(["another process", ["send", "a"]]);
  expect(received).toHaveLength(2);
});

it("keeps payloads below PostgreSQL's limit in bytes, and sends nothing if there are too many", async () => {
  const { clients, channel } = start();
  await pass(0);
  const publish = (many: number) => {
    for (let i = 0; i < many; i++) void channel.publish("send", `${"é".repeat(180)}${i}`);
  };
  publish(200);
  await pass(50);
  const sizes = clients[0]!.sent.map((payload) => Buffer.byteLength(payload));
  expect(Math.max(...sizes)).toBeLessThan(7900);
  // Each payload is full: one more change would not have fitted.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(7900 - 400);
  publish(400);
  await pass(50);
  expect(clients[0]!.sent).toHaveLength(sizes.length);
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
  void channel.publish("send", "lost meanwhile");
  await pass(100);
  expect(clients[0]).toMatchObject({ ended: 1, sent: [] });
  await pass(400);
  clients[0]!.emit("error", lost);
  await pass(60_000);
  expect(clients).toHaveLength(2);
  void channel.publish("send", "again");
  await pass(50);
  expect(sent()).toEqual([["send", "again"]]);
});

it("opens no connection after it was closed, and leaves no timers", async () => {
  for (const isLost of [false, true]) {
    const { clients, channel } = start();
    await pass(0);
    if (isLost) clients[0]!.emit("error", lost);
    void channel.publish("send", undefined);
    await channel.close();
    expect(vi.getTimerCount()).toBe(0);
    void channel.publish("send", undefined);
    channel.subscribe(() => {});
    await pass(60_000);
    expect(clients).toHaveLength(1);
    expect(clients[0]).toMatchObject({ ended: isLost ? 1 : expect.any(Number), sent: [] });
  }
});
