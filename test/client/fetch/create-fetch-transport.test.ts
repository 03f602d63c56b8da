import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createFetchTransport,
  createRateLimitObserver,
  type FetchTransportOptions,
  inspectRateLimits,
  isRateLimitError,
} from "../../../client/fetch/index.js";
import { createHandHandler, URL_OF_LIMITS } from "../../support/hand-handler.js";
import { CONFIG, pass, snapshotOf } from "../../support/hand-transport.js";

const DENIAL = {
  kind: "RateLimited",
  name: "a",
  retryAfter: 1000,
  value: 0,
  config: CONFIG,
  now: 1,
} as const;

function start(options: Partial<FetchTransportOptions> = {}) {
  const handler = createHandHandler({ a: 3, b: 1 });
  const { fetch, EventSource } = handler;
  const transport = createFetchTransport({ url: URL_OF_LIMITS, fetch, EventSource, ...options });
  return { ...handler, transport };
}

const errorOf = (question: Promise<unknown>) =>
  question.then(
    () => undefined,
    (error: unknown) => error as Error & { data?: unknown },
  );

describe("questions", () => {
  it("of one tick go out as one request, with what each has asked for", async () => {
    const { transport, asked } = start();
    const answers = await Promise.all([
      transport.status({ name: "b" }),
      transport.status({ name: "a", key: "ann" }),
    ]);
    expect(answers).toMatchObject([
      { name: "b", value: 1 },
      { name: "a", key: "ann", value: 3 },
    ]);
    expect(asked.map(({ url }) => url.href)).toEqual([
      `http://localhost/api/limits?${new URLSearchParams({
        action: "status",
        items: '[{"name":"b"},{"name":"a","key":"ann"}]',
      })}`,
    ]);
    await transport.status({ name: "a" });
    expect(asked).toHaveLength(2);
  });

  it("that are too long for a URL go out as several", async () => {
    const { transport, asked, names, tokens } = start();
    const many = Array.from({ length: 250 }, (_, i) => `limit-${i}-${"é".repeat(i % 9)}`);
    for (const name of many) tokens[name] = 1;
    const answers = await Promise.all(many.map((name) => transport.status({ name })));
    expect(answers.map(({ name }) => name)).toEqual(many);
    expect(names().flat()).toEqual(many);
    for (const { url } of asked) expect(url.href.length).toBeLessThan(2000);
    // The handler takes 100 items at most, however short they are.
    asked.length = 0;
    const short = Array.from({ length: 101 }, () => transport.status({ name: "" }));
    await Promise.all(short.map(errorOf));
    for (const list of names()) expect(list.length).toBeLessThan(100);
  });

  it("have the header fields and the cookies that the page gives them", async () => {
    const headers = vi.fn(async () => ({ Authorization: "Bearer 1" }));
    const { transport, asked } = start({ headers, credentials: "include" });
    await transport.status({ name: "a" });
    const { headers: sent, credentials } = asked[0]!.init;
    expect(Object.fromEntries(sent as Headers)).toEqual({
      accept: "application/json",
      authorization: "Bearer 1",
    });
    expect(credentials).toBe("include");
  });

  it("keep the query of the handler's URL", async () => {
    const { transport, asked } = start({ url: "https://example.com/limits?tenant=1" });
    await transport.status({ name: "a" });
    expect(asked[0]!.url.href).toMatch(/^https:\/\/example\.com\/limits\?tenant=1&action=status&/);
  });
});

describe("an error", () => {
  it("of one limit leaves the others as they are", async () => {
    const { transport } = start();
    const [known, unknown] = [transport.status({ name: "a" }), transport.status({ name: "x" })];
    expect(await errorOf(unknown)).toMatchObject({
      message: "no limit x",
      data: { code: "BAD_REQUEST", httpStatus: 400 },
    });
    await expect(known).resolves.toMatchObject({ name: "a", value: 3 });
  });

  it.each([
    [403, { code: "FORBIDDEN", message: "not you" }, "FORBIDDEN", "not you"],
    [500, { code: "INTERNAL_SERVER_ERROR", message: "failed" }, "INTERNAL_SERVER_ERROR", "failed"],
    [503, {}, undefined, "The server answered 503"],
    [401, ["odd"], undefined, "The server answered 401"],
  ])("of the whole request has status %i", async (status, body, code, message) => {
    const { transport, instead } = start();
    instead.respond = () => Response.json(body, { status });
    const error = await errorOf(transport.status({ name: "a" }));
    expect(error).toMatchObject({ message, data: { code, httpStatus: status } });
    expect(isRateLimitError(error)).toBe(false);
  });

  it("is a denial where the server limits the questions themselves", async () => {
    const { transport, instead } = start();
    instead.respond = () => Response.json(DENIAL, { status: 429 });
    const error = await errorOf(transport.status({ name: "a" }));
    expect(error).toMatchObject({ data: { rateLimit: DENIAL, httpStatus: 429 } });
    expect(isRateLimitError(error)).toBe(true);
  });

  it("says so where a page of the application answers in place of the handler", async () => {
    const { transport, instead } = start();
    const html = { headers: { "Content-Type": "text/html" } };
    instead.respond = () => new Response("<!doctype html>", html);
    expect(await errorOf(transport.status({ name: "a" }))).toMatchObject({
      message: expect.stringContaining("No handler of rate limits answers at") as string,
      data: { code: "NOT_FOUND", httpStatus: 404 },
    });
    instead.respond = () => new Response("<!doctype html>", { ...html, status: 502 });
    expect(await errorOf(transport.status({ name: "a" }))).toMatchObject({
      data: { httpStatus: 502 },
    });
  });

  it.each([
    ["a list that is too short", () => Response.json([])],
    ["no list", () => Response.json({ a: 1 })],
    ["null", () => Response.json(null)],
    [
      "half of the JSON",
      () => new Response("[{", { headers: { "Content-Type": "application/json" } }),
    ],
    ["no answer", () => Promise.reject(new TypeError("Failed to fetch"))],
  ])("is no refusal where %s arrives", async (_what, respond) => {
    const { transport, instead } = start();
    instead.respond = respond;
    const error = await errorOf(transport.status({ name: "a" }));
    expect(error).toBeInstanceOf(Error);
    expect(String((error as { data?: { httpStatus?: number } }).data?.httpStatus)).not.toMatch(
      /^4/,
    );
  });
});

describe("a stream", () => {
  it("has all limits in its URL, and a name of its own", () => {
    const { transport, streams } = start({ credentials: "include" });
    const handlers = { onSnapshot: vi.fn(), onLost: vi.fn(), onEnded: vi.fn() };
    transport.watch([{ name: "a" }, { name: "b", key: "ann" }], handlers);
    transport.watch([{ name: "a" }], handlers);
    const [first, second] = streams.map(({ url }) => new URL(url, "http://localhost").searchParams);
    expect(first!.get("action")).toBe("watch");
    expect(first!.get("items")).toBe('[{"name":"a"},{"name":"b","key":"ann"}]');
    expect(first!.get("stream")).not.toBe(second!.get("stream"));
    expect(streams[0]!.init.withCredentials).toBe(true);
  });

  it("sends the header fields, where the constructor takes a fetch of its own", async () => {
    const { transport, streams, asked } = start({ headers: { Authorization: "Bearer 1" } });
    transport.watch([{ name: "a" }], { onSnapshot() {}, onLost() {}, onEnded() {} });
    await streams[0]!.init.fetch(streams[0]!.url, { headers: { Accept: "text/event-stream" } });
    expect(Object.fromEntries(asked[0]!.init.headers as Headers)).toEqual({
      accept: "text/event-stream",
      authorization: "Bearer 1",
    });
  });

  it.each([
    ["there is no EventSource", {}, false],
    ["the browser's cannot send the header fields", { headers: { Authorization: "1" } }, true],
  ])("is not opened where %s", (_why, options, hasEventSource) => {
    const { EventSource } = createHandHandler({});
    vi.stubGlobal("EventSource", hasEventSource ? EventSource : undefined);
    const onEnded = vi.fn();
    const transport = createFetchTransport({ url: URL_OF_LIMITS, ...options });
    transport.watch([{ name: "a" }], { onSnapshot() {}, onLost() {}, onEnded });
    expect(onEnded).toHaveBeenCalledTimes(1);
    vi.unstubAllGlobals();
  });

  it("is the page's EventSource, and so is its fetch", async () => {
    const { EventSource, fetch, streams, asked } = createHandHandler({ a: 1 });
    vi.stubGlobal("EventSource", EventSource);
    vi.stubGlobal("fetch", fetch);
    const transport = createFetchTransport({ url: URL_OF_LIMITS });
    transport.watch([{ name: "a" }], { onSnapshot() {}, onLost() {}, onEnded() {} });
    await transport.status({ name: "a" });
    expect([streams.length, asked.length]).toEqual([1, 1]);
    vi.unstubAllGlobals();
  });
});

describe("an observer", () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
  afterEach(() => void vi.useRealTimers());

  function observe() {
    const { transport: _transport, ...handler } = start();
    const { fetch, EventSource } = handler;
    const clock = () => Date.now();
    const options = { url: URL_OF_LIMITS, fetch, EventSource, clock, pollInterval: 60_000 };
    const observer = createRateLimitObserver(options);
    const onChange = vi.fn();
    observer.observe({ name: "a" }, 1, onChange);
    return { ...handler, observer, onChange };
  }

  it("asks, then follows the stream, and is found by the URL of the handler", async () => {
    const { observer, streams } = observe();
    await pass(1);
    expect(observer.remaining({ name: "a" })).toBe(3);
    streams[0]!.send(snapshotOf("a", 0));
    await pass(1);
    expect(observer.connection).toBe("live");
    expect(observer.status({ name: "a" }, 1)?.ok).toBe(false);
    const same = [URL_OF_LIMITS, `http://localhost${URL_OF_LIMITS}`];
    for (const url of same) {
      expect(inspectRateLimits({ url })).toMatchObject([{ limits: [{ item: { name: "a" } }] }]);
    }
    expect(inspectRateLimits({ url: "/other" })).toEqual([]);
    observer.close();
    expect(inspectRateLimits({ url: URL_OF_LIMITS })).toEqual([]);
    expect(streams.every(({ isClosed }) => isClosed)).toBe(true);
  });

  it("ignores malformed snapshots", async () => {
    const { observer, streams, instead } = observe();
    instead.respond = () => Response.json([{ snapshot: { name: "a", value: "3" } }]);
    await pass(1);
    streams[0]!.send({ ...snapshotOf("a", 3), ts: null });
    streams[0]!.send(null);
    await pass(1);
    expect(observer.status({ name: "a" }, 1)).toBe(undefined);
    observer.close();
  });

  it("polls while the stream is down, and follows it when it is back", async () => {
    const { observer, streams, asked, tokens } = observe();
    await pass(1);
    streams[0]!.send(snapshotOf("a", 3));
    await pass(20_000);
    asked.length = 0;
    streams[0]!.fail(0);
    await pass(1);
    expect([observer.connection, asked.length]).toEqual(["polling", 1]);
    tokens["a"] = 2;
    streams[0]!.send(snapshotOf("a", 2));
    await pass(1);
    expect([observer.connection, observer.remaining({ name: "a" })]).toEqual(["live", 2]);
    observer.close();
  });

  it("opens another stream once one has ended, as with too many streams or after silence", async () => {
    const { observer, streams } = observe();
    await pass(1);
    streams[0]!.fail(2);
    await pass(1000);
    expect(streams).toHaveLength(2);
    streams[1]!.send(snapshotOf("a", 3));
    await pass(45_000);
    expect(streams[1]!.isClosed).toBe(true);
    await pass(2000);
    expect(streams).toHaveLength(3);
    observer.close();
  });

  it("does not ask again for a limit that the server refuses, and says why", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    const { observer, asked, onChange } = observe();
    observer.observe({ name: "x" }, 1, onChange);
    await pass(1);
    expect(observer.error({ name: "x" })).toMatchObject({ message: "no limit x" });
    expect(warn).toHaveBeenCalledTimes(1);
    asked.length = 0;
    await pass(120_000);
    for (const { url } of asked) expect(url.searchParams.get("items")).not.toContain('"x"');
    observer.close();
    warn.mockRestore();
  });
});
