/** `slot.during(response)`: a slot is held as long as the body of a response is read. */
import { request } from "node:http";
import { pipeline, type Readable } from "node:stream";
import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
  createRateLimiter,
  type EnterGranted,
  memoryStore,
  rateLimitResponse,
} from "../../../../server/index.js";
import { serveFetch } from "../../../support/serve-fetch.js";

const TTL = 3000;
const SLOTS = 2;

function setUp() {
  const limits = { answers: { kind: "concurrency", slots: SLOTS, ttl: TTL } } as const;
  const limiter = createRateLimiter({ store: memoryStore(), limits });
  return {
    limiter,
    async enter(holder?: string): Promise<EnterGranted> {
      const slot = await limiter.enter("answers", { ...(holder !== undefined && { holder }) });
      if (!slot.ok) throw new Error("denied");
      return slot;
    },
    free: async () => (await limiter.check("answers")).value,
  };
}

/** A body that a test writes to. */
function writable() {
  const { readable, writable: sink } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = sink.getWriter();
  // The reader may have left.
  writer.closed.catch(() => {});
  const encoder = new TextEncoder();
  return {
    body: readable,
    write: (text: string) => writer.write(encoder.encode(text)),
    end: () => writer.close(),
    fail: (error: Error) => writer.abort(error),
    /** Resolves with why its reader has left. */
    left: writer.closed.then(
      () => undefined,
      (reason: unknown) => reason,
    ),
  };
}

/** Time only passes where a test says so. */
const stopTime = () =>
  vi.useFakeTimers({ now: 1e12, toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
afterEach(() => void vi.useRealTimers());

describe("over HTTP", () => {
  /** A server that streams an answer that never ends by itself. */
  async function startServer(send?: (body: Readable, res: ServerResponse) => unknown) {
    const at = setUp();
    let running = 0;
    const host = await serveFetch(
      async () => {
        await using slot = await at.limiter.enter("answers");
        if (!slot.ok) return rateLimitResponse(slot, { limiter: at.limiter, name: "answers" });
        const answer = writable();
        running++;
        let isRead = true;
        void answer.left.then(() => {
          running--;
          isRead = false;
        });
        const write = async () => {
          for (let words = "first words"; isRead; words = "more words".repeat(1000))
            await answer.write(words);
        };
        write().catch(() => {});
        return slot.during(new Response(answer.body));
      },
      "",
      send,
    );
    onTestFinished(() => host[Symbol.asyncDispose]());
    return { ...at, url: host.url, running: () => running };
  }

  /** A client that reads the first words, and leaves when it is told to. */
  function connect(url: string): Promise<{ status: number; words: string; leave(): void }> {
    return new Promise((resolve, reject) => {
      const asking = request(url, { agent: false }, (response) => {
        response.on("error", () => {});
        response.once("data", (chunk: Buffer) => {
          const { statusCode: status = 0 } = response;
          resolve({ status, words: chunk.toString(), leave: () => void asking.destroy() });
        });
      });
      asking.once("error", reject);
      asking.end();
    });
  }

  const cancelling = (body: Readable, res: ServerResponse) => pipeline(body, res, () => {});

  it("lets as many streams run as there are slots, and the next one when a client leaves", async () => {
    const server = await startServer(cancelling);
    const clients = await Promise.all(Array.from({ length: 5 }, () => connect(server.url)));
    const served = clients.filter(({ status }) => status === 200);
    expect(served.map(({ words }) => words)).toEqual(["first words", "first words"]);
    expect(clients.filter(({ status }) => status === 429)).toHaveLength(3);
    expect([server.running(), await server.free()]).toEqual([2, 0]);

    served[0]!.leave();
    await expect.poll(server.free).toBe(1);
    expect(server.running()).toBe(1);
    const next = await connect(server.url);
    expect(next.status).toBe(200);
    expect((await connect(server.url)).status).toBe(429);
    next.leave();
    served[1]!.leave();
    await expect.poll(server.free).toBe(SLOTS);
  });

  it("frees the slot after its ttl where the host keeps the body of a client that has left", async () => {
    stopTime();
    const server = await startServer();
    const client = await connect(server.url);
    expect(await server.free()).toBe(1);
    client.leave();
    // The host reads ahead, until its own buffer is full.
    const later = async () => {
      await vi.advanceTimersByTimeAsync(TTL);
      return server.free();
    };
    await expect.poll(later).toBe(SLOTS);
    expect(server.running()).toBe(1);
  });
});

it("releases the slot at the end of the body, before the reader hears of it", async () => {
  const { enter, free } = setUp();
  const slot = await enter();
  const answer = writable();
  const init = { status: 201, statusText: "Made", headers: { "x-own": "1", "set-cookie": "a=b" } };
  const response = slot.during(new Response(answer.body, init));
  expect([response.status, response.statusText]).toEqual([201, "Made"]);
  expect([...response.headers]).toEqual([
    ["set-cookie", "a=b"],
    ["x-own", "1"],
  ]);
  const reader = response.body!.getReader();
  const texts = ["one", "two"];
  for (const text of texts) {
    void answer.write(text);
    expect(new TextDecoder().decode((await reader.read()).value)).toBe(text);
    expect(await free()).toBe(1);
  }
  void answer.end();
  expect(await reader.read()).toEqual({ done: true, value: undefined });
  expect(await free()).toBe(SLOTS);
  expect(slot.signal.aborted).toBe(false);
});

it("passes all bytes on", async () => {
  const { enter } = setUp();
  const bytes = new Uint8Array(1_000_000).map((_, i) => i % 251);
  const response = (await enter()).during(new Response(bytes));
  expect(Buffer.compare(Buffer.from(await response.arrayBuffer()), bytes)).toBe(0);
});

it("releases the slot of a body that fails or that is cancelled, and tells the source", async () => {
  const { enter, free } = setUp();
  const failing = writable();
  const failed = (await enter()).during(new Response(failing.body));
  const reading = failed.text();
  void failing.fail(new Error("the model is gone"));
  await expect(reading).rejects.toThrow("the model is gone");
  expect(await free()).toBe(SLOTS);

  const left = writable();
  const response = (await enter()).during(new Response(left.body));
  await response.body!.cancel("the client left");
  expect(await free()).toBe(SLOTS);
  expect(await left.left).toBe("the client left");
});

it("releases the slot where the source does not end as it is told", async () => {
  const { enter, free } = setUp();
  const body = new ReadableStream({
    cancel() {
      throw new Error("cannot be cancelled");
    },
  });
  const response = (await enter()).during(new Response(body));
  await expect(response.body!.cancel()).rejects.toThrow("cannot be cancelled");
  expect(await free()).toBe(SLOTS);
});

it.each([204, 302, 429])(
  "releases the slot at once of a response without a body (%d)",
  async (status) => {
    const { enter, free } = setUp();
    const slot = await enter();
    const response = new Response(null, { status });
    expect(slot.during(response)).toBe(response);
    await slot.release();
    expect(await free()).toBe(SLOTS);
  },
);

it("is released by the end of a block only where no response has it", async () => {
  const { limiter, free } = setUp();
  const answer = writable();
  async function handle(isFailing: boolean) {
    await using slot = await limiter.enter("answers");
    if (!slot.ok) throw new Error("denied");
    if (isFailing) throw new Error("before the answer");
    return slot.during(new Response(answer.body));
  }
  await expect(handle(true)).rejects.toThrow("before the answer");
  expect(await free()).toBe(SLOTS);
  const response = await handle(false);
  expect(await free()).toBe(1);
  await response.body!.cancel();
  expect(await free()).toBe(SLOTS);
});

it("ends the body of a slot that a later call takes over", async () => {
  stopTime();
  const { enter, free } = setUp();
  const slot = await enter("page");
  const answer = writable();
  const reader = slot.during(new Response(answer.body)).body!.getReader();
  const reading = reader.read().catch((error: unknown) => error);
  const later = await enter("page");
  await vi.advanceTimersByTimeAsync(TTL / 3);
  const message = expect.stringContaining("a later call with the same holder has taken it over");
  expect(await reading).toMatchObject({ message });
  expect(await answer.left).toMatchObject({ message });
  expect(await free()).toBe(1);
  await later.release();
});

it("frees the slot of a body that is not read for the ttl, and lets the body go on", async () => {
  stopTime();
  const { enter, free } = setUp();
  const answer = writable();
  const response = (await enter()).during(new Response(answer.body));
  await vi.advanceTimersByTimeAsync(TTL - 1);
  expect(await free()).toBe(1);
  const reader = response.body!.getReader();
  // A reader that waits for the source reads.
  const reading = reader.read();
  await vi.advanceTimersByTimeAsync(10 * TTL);
  expect(await free()).toBe(1);
  void answer.write("late");
  expect(new TextDecoder().decode((await reading).value)).toBe("late");
  await vi.advanceTimersByTimeAsync(TTL - 1);
  expect(await free()).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await free()).toBe(SLOTS);
  void answer.write("later");
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("later");
  void answer.end();
  expect((await reader.read()).done).toBe(true);
});

it("refuses a body that is in use, and what is no response, and releases the slot", async () => {
  const { enter, free } = setUp();
  const read = new Response("words");
  await read.text();
  const locked = new Response("words");
  locked.body!.getReader();
  for (const [response, message] of [
    [read, "during() needs a response whose body is not in use"],
    [locked, "during() needs a response whose body is not in use"],
    ["words", 'during() needs a Response, got "words"'],
    [undefined, "during() needs a Response, got undefined"],
  ] as const) {
    const slot = await enter();
    expect(() => slot.during(response as Response)).toThrow(message);
    await slot.release();
    expect(await free()).toBe(SLOTS);
  }
});
