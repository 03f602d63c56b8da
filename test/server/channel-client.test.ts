/** What `postgresChannel` does with its connections, on clients and timers that do as they are told. */
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
  const heard: unknown[][] = [];
  const stop = channel.subscribe((...change) => heard.push(change));
  const notify = (payload: unknown) =>
    clients.at(-1)!.emit("notification", { channel: "c", payload: JSON.stringify(payload) });
  /** The names and keys that this client has told of. */
  const told = (client = clients.at(-1)!) =>
    client.sent.flatMap((payload) => (JSON.parse(payload) as unknown[]).slice(1));
  return { clients, server, channel, heard, stop, notify, told };
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const lost = new Error("connection lost");

it("tells others once of what it is told within 50 ms, and hears nothing of its own", async () => {
  const { clients, channel, heard, stop, notify, told } = start();
  await pass(0);
  for (const key of ["a", "b", "a"]) void channel.publish("send", key);
  void channel.publish("send", undefined);
  await pass(49);
  expect(told()).toEqual([]);
  await pass(1);
  const changes = [["send", "a"], ["send", "b"], ["send"]];
  expect(told()).toEqual(changes);
  void channel.publish("other", undefined);
  await pass(50);
  expect(told()).toEqual([...changes, ["other"]]);
  notify(JSON.parse(clients[0]!.sent[0]!));
  expect(heard).toEqual([]);
  notify(["somebody else", ["send", "a"], ["send", 7], ["send", { a: 1 }], ["send"]]);
  expect(heard).toEqual([
    ["send", "a"],
    ["send", undefined],
  ]);
  stop();
  notify(["somebody else", ["send", "a"]]);
  expect(heard).toHaveLength(2);
});

it("keeps what it tells below what PostgreSQL takes, in bytes, and leaves out what is too much", async () => {
  const { clients, channel } = start();
  await pass(0);
  const publish = (many: number) => {
    for (let i = 0; i < many; i++) void channel.publish("send", `${"é".repeat(180)}${i}`);
  };
  publish(200);
  await pass(50);
  const sizes = clients[0]!.sent.map((payload) => Buffer.byteLength(payload));
  expect(Math.max(...sizes)).toBeLessThan(7900);
  // And so full that one more would not have found room.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(7900 - 400);
  publish(400);
  await pass(50);
  expect(clients[0]!.sent).toHaveLength(sizes.length);
});

it("waits twice as long after each attempt in vain, half a minute at most, and then anew", async () => {
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

it("loses a connection once, however often that is said, and ends it", async () => {
  const { clients, channel, told } = start();
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
  expect(told()).toEqual([["send", "again"]]);
});

it("opens nothing more once it is closed, and leaves no timers", async () => {
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
