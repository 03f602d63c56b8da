/** The events of a stream, its pings, and its end. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventStream } from "../../../../server/live/handler/event-stream.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A generator by hand, and the stream that is made of it. */
function start({ id = "s", heartbeat = 15_000 } = {}) {
  const client = new AbortController();
  const state = { asked: 0, isOver: false };
  const waiting: { resolve: (value: unknown) => void; reject: (error: Error) => void }[] = [];
  const events: unknown[] = [];
  async function* watch(signal: AbortSignal): AsyncGenerator<unknown, void, undefined> {
    try {
      for (;;) {
        state.asked++;
        if (signal.aborted) return;
        const event =
          events.shift() ??
          (await new Promise((resolve, reject) => {
            waiting.push({ resolve, reject });
            signal.addEventListener("abort", () => resolve(undefined));
          }));
        if (signal.aborted) return;
        yield event;
      }
    } finally {
      state.isOver = true;
    }
  }
  const opened = eventStream(watch, { id, heartbeat, signal: client.signal });
  opened.catch(() => {});
  return {
    state,
    opened,
    client,
    emit(value: unknown) {
      const first = waiting.shift();
      if (first) first.resolve(value);
      else events.push(value);
    },
    fail: (error: Error) => waiting.shift()!.reject(error),
  };
}

const PING = "event: ping\ndata: {}\n\n";
const tick = () => vi.advanceTimersByTimeAsync(0);

async function readerOf(opened: Promise<Response>) {
  const reader = (await opened).body!.pipeThrough(new TextDecoderStream()).getReader();
  const read = { text: "", isDone: false };
  void (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      read.isDone = done;
      if (done) return;
      read.text += value;
    }
  })();
  await tick();
  return { read, reader };
}

describe("a stream", () => {
  it("begins with a ping and the first event, under its id", async () => {
    const { opened, emit } = start({ id: "ä" });
    emit({ value: 1 });
    const { headers, status } = await opened;
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toEqual({
      "content-type": "text/event-stream",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
    });
    const { read } = await readerOf(opened);
    expect(read.text).toBe(`${PING}id: ä\ndata: {"value":1}\n\n`);
  });

  it.each(["a\nb", "a\rb", "a\0b"])(
    "leaves out the id %j, which would end its line",
    async (id) => {
      const { opened, emit } = start({ id });
      emit("one");
      const { read } = await readerOf(opened);
      expect(read.text).toBe(`${PING}data: "one"\n\n`);
    },
  );

  it("has a ping each heartbeat", async () => {
    const { opened, emit } = start({ heartbeat: 100 });
    emit("one");
    const { read } = await readerOf(opened);
    read.text = "";
    await vi.advanceTimersByTimeAsync(350);
    expect(read.text).toBe(PING.repeat(3));
  });

  it("has the error of its generator before the first event", async () => {
    const { opened, fail } = start();
    await tick();
    fail(new Error("refused"));
    await expect(opened).rejects.toThrow("refused");
    expect(vi.getTimerCount()).toBe(0);
  });

  it("opens with pings alone where the first event is late, as in an outage", async () => {
    const { opened, emit } = start({ heartbeat: 100 });
    await vi.advanceTimersByTimeAsync(100);
    const { read } = await readerOf(opened);
    await vi.advanceTimersByTimeAsync(100);
    expect(read.text).toBe(PING.repeat(2));
    emit("late");
    await tick();
    expect(read.text).toBe(`${PING.repeat(2)}id: s\ndata: "late"\n\n`);
  });

  it("ends without a word where its generator fails later", async () => {
    const { opened, emit, fail, state } = start();
    emit("one");
    const { read } = await readerOf(opened);
    fail(new Error("a key was revoked"));
    await tick();
    expect(read.isDone).toBe(true);
    expect(state.isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("asks for one event more than a client has read, and sends no pings to it", async () => {
    const { opened, emit, state } = start({ heartbeat: 100 });
    for (let i = 0; i < 50; i++) emit(i);
    const { body } = await opened;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(state.asked).toBeLessThanOrEqual(2);
    const text = new TextDecoder();
    const reader = body!.getReader();
    expect(text.decode((await reader.read()).value)).toBe(PING);
    expect(text.decode((await reader.read()).value)).toContain("data: 0");
    await tick();
    expect(state.asked).toBeLessThanOrEqual(3);
  });
});

describe("a client that leaves", () => {
  it.each(["signal", "body"])("ends the generator and the pings, told by the %s", async (by) => {
    const { opened, emit, client, state } = start();
    emit("one");
    const { reader } = await readerOf(opened);
    expect(vi.getTimerCount()).toBe(1);
    if (by === "signal") client.abort();
    else await reader.cancel();
    await tick();
    expect(state.isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends a generator whose event nobody has read", async () => {
    const { opened, emit, client, state } = start();
    emit("one");
    emit("two");
    await opened;
    client.abort();
    await tick();
    expect(state.isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("leaves no timer behind before the first event, though its body is never read", async () => {
    const { opened, client, state } = start();
    await tick();
    client.abort();
    await tick();
    await opened;
    expect(state.isOver).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("had left before", async () => {
    const client = new AbortController();
    client.abort();
    const watch = vi.fn(async function* () {
      yield 1;
    });
    const response = await eventStream(watch, { id: "s", heartbeat: 1, signal: client.signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(await response.text()).not.toContain("data: 1");
  });
});
