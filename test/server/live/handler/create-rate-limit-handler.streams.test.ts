/** Streams of the handler: their places, their former selves, and a store that fails beneath them. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRateLimiter, createRateLimitHandler, MINUTE } from "../../../../server/index.js";
import { frailStore } from "../../../support/frail-store.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const config = { kind: "token bucket", rate: 10, period: 1000 * MINUTE } as const;

function start(options: { maxStreams?: number; heartbeat?: number } = {}) {
  const { state, store } = frailStore();
  const limiter = createRateLimiter({
    store,
    limits: { send: config },
    logger: false,
    timeout: 1000,
  });
  const handler = createRateLimitHandler({
    limiter,
    maxStreams: 1,
    key: ({ request }) => request.headers.get("x-user"),
    ...options,
  });

  async function open(
    user: string,
    { id, lastEventId }: { id?: string; lastEventId?: string } = {},
  ) {
    const client = new AbortController();
    onTestFinished(() => client.abort());
    const query = new URLSearchParams({ action: "watch", items: '[{"name":"send"}]' });
    if (id !== undefined) query.set("stream", id);
    const opening = handler(
      new Request(`http://x/?${query}`, {
        signal: client.signal,
        headers: {
          "x-user": user,
          ...(lastEventId !== undefined && { "Last-Event-ID": lastEventId }),
        },
      }),
    );
    const stream = { status: 0, text: "", isOver: false, client };
    void opening.then(async ({ status, body }) => {
      stream.status = status;
      const decoder = new TextDecoder();
      for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
        stream.text += decoder.decode(chunk, { stream: true });
      }
      stream.isOver = true;
    });
    await vi.advanceTimersByTimeAsync(100);
    return stream;
  }
  const valuesOf = ({ text }: { text: string }) =>
    [...text.matchAll(/^data: .*"value":([\d.]+)/gm)].map(([, value]) => Math.floor(Number(value)));
  return { state, limiter, open, valuesOf };
}

describe("a stream that its browser opens anew", () => {
  it("replaces its former self by Last-Event-ID, which the server chose", async () => {
    const { open } = start();
    const first = await open("ada");
    const id = /^id: (.+)$/m.exec(first.text)![1]!;
    expect(id).toMatch(/^[\w-]{36}$/);
    expect((await open("ada")).status).toBe(409);
    const second = await open("ada", { lastEventId: id });
    expect([second.status, first.isOver, second.isOver]).toEqual([200, true, false]);
    expect(second.text).toContain(`id: ${id}\n`);
    const third = await open("ada", { lastEventId: id });
    expect([third.status, second.isOver]).toEqual([200, true]);
  });

  it("replaces by the id in its URL, which goes before Last-Event-ID", async () => {
    const { open } = start({ maxStreams: 2 });
    const [one, two] = [await open("ada", { id: "one" }), await open("ada", { id: "two" })];
    await open("ada", { id: "one", lastEventId: "two" });
    expect([one.isOver, two.isOver]).toEqual([true, false]);
  });

  it("replaces no stream of another caller", async () => {
    const { open } = start();
    const first = await open("ada", { id: "s" });
    const other = await open("bob", { id: "s" });
    expect([other.status, first.isOver]).toEqual([200, false]);
  });
});

it("has pings by the clock, until its client leaves", async () => {
  const { open } = start({ heartbeat: 20_000 });
  const stream = await open("ada");
  stream.text = "";
  await vi.advanceTimersByTimeAsync(60_000);
  expect(stream.text).toBe("event: ping\ndata: {}\n\n".repeat(3));
  stream.client.abort();
  await vi.advanceTimersByTimeAsync(0);
  expect(stream.isOver).toBe(true);
  await vi.advanceTimersByTimeAsync(5000);
  expect(vi.getTimerCount()).toBe(0);
});

describe.each(["failing", "hanging"] as const)("while the store is %s", (how) => {
  it("an open stream goes on, and shows the present value afterwards", async () => {
    const { open, state, limiter, valuesOf } = start();
    const stream = await open("ada");
    expect(valuesOf(stream)).toEqual([10]);
    await limiter.limit("send", { key: "ada" });
    await vi.advanceTimersByTimeAsync(100);
    state.is = how;
    await vi.advanceTimersByTimeAsync(30_000);
    expect([valuesOf(stream), stream.isOver]).toEqual([[10, 9], false]);
    expect(stream.text).toMatch(/event: ping\ndata: \{\}\n\n$/);
    state.is = "well";
    await vi.advanceTimersByTimeAsync(5000);
    await limiter.limit("send", { key: "ada" });
    await vi.advanceTimersByTimeAsync(5000);
    expect(valuesOf(stream).at(-1)).toBe(8);
  });

  it("a new stream opens after a heartbeat, and has its snapshot afterwards", async () => {
    const { open, state, valuesOf } = start();
    state.is = how;
    const stream = await open("ada");
    expect(stream.status).toBe(0);
    await vi.advanceTimersByTimeAsync(15_000);
    expect([stream.status, valuesOf(stream)]).toEqual([200, []]);
    expect(stream.text).toMatch(/^event: ping\n/);
    state.is = "well";
    await vi.advanceTimersByTimeAsync(5000);
    expect(valuesOf(stream)).toEqual([10]);
  });

  it("a client that leaves makes room for the next", async () => {
    const { open, state } = start();
    state.is = how;
    const left = await open("ada");
    left.client.abort();
    await vi.advanceTimersByTimeAsync(0);
    await open("ada");
    state.is = "well";
    await vi.advanceTimersByTimeAsync(20_000);
    expect((await open("ada")).status).toBe(409);
  });
});
