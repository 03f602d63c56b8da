import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createRateLimitObserver,
  denialOf,
  rateLimitFetch,
  type RateLimitFetchOptions,
} from "../../../client/fetch/index.js";
import { rateLimitHeaders } from "../../../server/index.js";
import { createHandHandler, URL_OF_LIMITS } from "../../support/hand-handler.js";
import { pass, snapshotOf } from "../../support/hand-transport.js";

beforeEach(() => void vi.useFakeTimers({ now: 1e6 }));
afterEach(() => void vi.useRealTimers());

const config = { kind: "token bucket", rate: 1, period: 1000, capacity: 5 } as const;
const PATH = "/api/messages";
const POST = { method: "POST" };

/** A fetch whose requests the test answers. */
function start(options: Partial<RateLimitFetchOptions> = {}) {
  const sent: { input: unknown; answer(response: Response): void; fail(error: unknown): void }[] =
    [];
  const send = vi.fn(
    (input: string | URL | Request) =>
      new Promise<Response>((answer, fail) => void sent.push({ input, answer, fail })),
  );
  const limited = rateLimitFetch(send, {
    url: URL_OF_LIMITS,
    limits: { [`POST ${PATH}`]: "a" },
    jitter: 0,
    clock: () => Date.now(),
    ...options,
  });
  return { sent, limited };
}

const denial = (retryAfter: number, more: object = {}) => ({
  kind: "RateLimited",
  name: "a",
  retryAfter,
  value: 0,
  config,
  now: Date.now(),
  ...more,
});
const denied = (retryAfter: number, more?: object) =>
  Response.json(denial(retryAfter, more), { status: 429 });

/** An observer of the limit `a` with `value` tokens. */
async function observe(value: number, ahead = 0) {
  const handler = createHandHandler({ a: value });
  const read = () => Object.assign(handler.more, { config, now: Date.now() + ahead });
  Object.assign(handler.more, { config });
  if (ahead !== 0) read();
  const { fetch } = handler;
  const clock = () => Date.now();
  const observer = createRateLimitObserver({ url: URL_OF_LIMITS, fetch, live: "off", clock });
  observer.observe({ name: "a" }, 1, () => {});
  await pass(10);
  expect(observer.remaining({ name: "a" })).toBe(value);
  handler.asked.length = 0;
  return {
    ...handler,
    observer,
    remaining: () => observer.remaining({ name: "a" }),
    [Symbol.dispose]: () => observer.close(),
  };
}

describe("a request", () => {
  it.each([
    ["a path", PATH, POST],
    ["an address", `https://example.com${PATH}?draft=1`, { method: "post" }],
    ["a URL", new URL(PATH, "https://example.com"), POST],
    ["a Request", new Request(`https://example.com${PATH}`, POST), undefined],
    ["a Request with another method", new Request(`https://example.com${PATH}`), POST],
  ])("to %s debits the observers until its answer says more", async (_what, input, init) => {
    using page = await observe(3);
    const { sent, limited } = start();
    const answer = limited(input, init);
    expect(page.remaining()).toBe(2);
    expect(sent.map((request) => request.input)).toEqual([input]);
    page.tokens["a"] = 2;
    sent[0]!.answer(new Response("done"));
    expect(await (await answer).text()).toBe("done");
    await pass(1);
    // Without a stream, the observer asks for what the server has charged.
    expect([page.asked.length, page.remaining()]).toEqual([1, 2]);
  });

  it.each([
    ["of another method", PATH, undefined],
    ["of another path", "/api/other", POST],
    ["to the handler itself", `${URL_OF_LIMITS}?action=status`, POST],
  ])("%s takes nothing", async (_what, input, init) => {
    using page = await observe(3);
    const { sent, limited } = start({
      limits: { [`POST ${PATH}`]: "a", [`POST ${URL_OF_LIMITS}`]: "a" },
    });
    void limited(input, init);
    expect([sent.length, page.remaining()]).toEqual([1, 3]);
  });

  it("takes what a function says, with its count and key", async () => {
    using page = await observe(5);
    const asked = vi.fn();
    const { sent, limited } = start({
      limits: ({ method, url }) => {
        asked(method, url.href);
        return url.searchParams.has("free") ? null : { name: "a", count: 2 };
      },
    });
    void limited(PATH, POST);
    expect(page.remaining()).toBe(3);
    void limited(`${PATH}?free`);
    expect([sent.length, page.remaining()]).toEqual([2, 3]);
    expect(asked.mock.calls).toEqual([
      ["POST", `http://localhost${PATH}`],
      ["GET", `http://localhost${PATH}?free`],
    ]);
  });

  it.each([
    [201, 4],
    [302, 4],
    [404, 4],
    [500, 4],
  ])("that is answered with %i was charged", async (status, left) => {
    using page = await observe(5);
    const { sent, limited } = start();
    const answer = limited(PATH, POST);
    page.instead.respond = () => new Promise(() => {});
    sent[0]!.answer(new Response(null, { status }));
    expect((await answer).status).toBe(status);
    await pass(1);
    expect([page.asked.length, page.remaining()]).toEqual([1, left]);
  });

  it("without an answer was not charged, and the server is asked", async () => {
    using page = await observe(5);
    const { sent, limited } = start();
    const answer = limited(PATH, POST);
    expect(page.remaining()).toBe(4);
    const error = new TypeError("Failed to fetch");
    sent[0]!.fail(error);
    await expect(answer).rejects.toBe(error);
    await pass(1);
    expect([page.asked.length, page.remaining()]).toEqual([1, 5]);
  });

  it("of a limit that charges for failures only takes nothing before, and asks after one", async () => {
    using page = await observe(5);
    const { sent, limited } = start({ limits: { [`POST ${PATH}`]: { name: "a", on: "error" } } });
    const [good, bad] = [limited(PATH, POST), limited(PATH, POST)];
    expect(page.remaining()).toBe(5);
    sent[0]!.answer(new Response("done"));
    await good;
    await pass(1);
    expect(page.asked).toHaveLength(0);
    sent[1]!.answer(new Response("wrong password", { status: 401 }));
    await bad;
    await pass(1);
    expect(page.asked).toHaveLength(1);
  });

  it("settles its debit once, also where it fails after it was aborted", async () => {
    using page = await observe(5);
    const { sent, limited } = start();
    const answer = limited(PATH, POST);
    sent[0]!.fail(new DOMException("aborted", "AbortError"));
    await expect(answer).rejects.toThrow("aborted");
    sent[0]!.fail(new Error("again"));
    await pass(1);
    expect(page.remaining()).toBe(5);
  });

  it("is not the caller's own debit twice", async () => {
    using page = await observe(5);
    const { limited } = start();
    // As a hook has debited it.
    page.observer.debit({ name: "a" }, 1);
    void limited(PATH, POST);
    expect(page.remaining()).toBe(4);
  });
});

describe("a denial", () => {
  it("is known to observers before the caller has the answer, whose body it still can read", async () => {
    using page = await observe(5);
    const { sent, limited } = start();
    const answer = limited(PATH, POST);
    page.instead.respond = () => new Promise(() => {});
    sent[0]!.answer(denied(1500));
    const response = await answer;
    expect(page.observer.status({ name: "a" }, 1)).toEqual({
      ok: false,
      retryAt: Date.now() + 1500,
    });
    expect(denialOf(await response.json())).toEqual(denial(1500));
    // The observer asks for the whole state.
    await pass(1);
    expect(page.asked).toHaveLength(1);
  });

  it("teaches which limit requests of its path take from, where none is declared", async () => {
    const { sent, limited } = start({ limits: {}, whenLimited: "reject" });
    const first = limited(PATH, POST);
    sent[0]!.answer(denied(1500));
    await first;
    expect((await limited(PATH, POST)).status).toBe(429);
    expect(sent).toHaveLength(1);
    void limited("/api/other", POST);
    void limited(PATH);
    expect(sent).toHaveLength(3);
    await pass(1500);
    void limited(PATH, POST);
    expect(sent).toHaveLength(4);
  });

  it.each([
    ["an HTML page", () => new Response("<html>", { status: 429 })],
    [
      "half of its JSON",
      () => new Response("{", { status: 429, headers: { "Content-Type": "application/json" } }),
    ],
    ["other JSON", () => Response.json({ error: "too many" }, { status: 429 })],
    [
      "another limit in its fields",
      () => new Response(null, { status: 429, headers: { RateLimit: '"b";r=0;t=9' } }),
    ],
    [
      "no time in its fields",
      () =>
        new Response(null, {
          status: 429,
          headers: { RateLimit: '"a";r=0', "Retry-After": "soon" },
        }),
    ],
  ])("without facts, such as %s, makes the observers ask", async (_what, respond) => {
    using page = await observe(5);
    const { sent, limited } = start({ whenLimited: "reject" });
    const answer = limited(PATH, POST);
    sent[0]!.answer(respond());
    expect((await answer).status).toBe(429);
    await pass(1);
    expect([page.asked.length, page.remaining()]).toEqual([1, 5]);
    expect(page.observer.status({ name: "a" }, 1)?.ok).toBe(true);
  });

  it.each([
    ["RateLimit", () => rateLimitHeaders({ data: { rateLimit: denial(1500) } } as never)],
    ["several in RateLimit", () => ({ RateLimit: '"b, c;r=1";r=1;t=50, "a";r=0;t=2' })],
    ["Retry-After", () => ({ "Retry-After": "2" })],
    ["a date", () => ({ "Retry-After": new Date(Date.now() + 60_000 + 2000).toUTCString() })],
  ])("is read from %s by the observer's own clock of the server", async (_what, fields) => {
    // The server's clock is a minute ahead.
    using page = await observe(5, 60_000);
    const { sent, limited } = start({ whenLimited: "reject" });
    const { offset } = page.observer.inspect();
    expect(offset).toBeGreaterThan(59_000);
    const answer = limited(PATH, POST);
    page.instead.respond = () => new Promise(() => {});
    sent[0]!.answer(new Response(null, { status: 429, headers: fields() }));
    expect((await answer).status).toBe(429);
    const status = page.observer.status({ name: "a" }, 1);
    expect(status?.ok).toBe(false);
    const wait = status!.retryAt! - Date.now();
    expect(wait).toBeGreaterThan(900);
    expect(wait).toBeLessThan(2100);
    expect(page.observer.inspect().offset).toBe(offset);
    expect((await limited(PATH, POST)).headers.get("Retry-After")).toBe(
      String(Math.ceil(wait / 1000)),
    );
    expect(sent).toHaveLength(1);
  });
});

describe('a request that is known to be denied, with "reject"', () => {
  it("resolves with the answer of the server, without a request", async () => {
    using page = await observe(0);
    const { sent, limited } = start({ whenLimited: "reject" });
    const response = await limited(PATH, POST);
    expect(sent).toEqual([]);
    expect(response.status).toBe(429);
    expect(response.headers.get("Retry-After")).toBe("1");
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(denialOf(await response.json())).toMatchObject({ name: "a", config });
    page.observer.receive(snapshotOf("a", 1, { config }));
    void limited(PATH, POST);
    expect(sent).toHaveLength(1);
  });
});

describe('requests that wait, with "wait"', () => {
  /** Requests whose limit was denied for a second. */
  async function startDenied(options: Partial<RateLimitFetchOptions> = {}) {
    const started = start({ whenLimited: "wait", ...options });
    const first = started.limited(PATH, POST);
    started.sent[0]!.answer(denied(1000));
    expect((await first).status).toBe(429);
    started.sent.length = 0;
    return started;
  }

  it("are sent in order of arrival, one after the other", async () => {
    const { sent, limited } = await startDenied();
    for (const n of [1, 2, 3]) void limited(`${PATH}?n=${n}`, POST);
    await pass(999);
    expect(sent).toHaveLength(0);
    await pass(1);
    expect(sent.map(({ input }) => input)).toEqual([`${PATH}?n=1`]);
    await pass(1000);
    await pass(1000);
    expect(sent.map(({ input }) => input)).toEqual([1, 2, 3].map((n) => `${PATH}?n=${n}`));
  });

  it("are aborted by their signal, and the next ones move up", async () => {
    const { sent, limited } = await startDenied();
    const [first, second] = [new AbortController(), new AbortController()];
    const calls = [
      limited(`${PATH}?n=1`, { ...POST, signal: first.signal }),
      limited(new Request(`http://localhost${PATH}?n=2`, { ...POST, signal: second.signal })),
      limited(`${PATH}?n=3`, POST),
    ];
    const reason = new Error("left");
    first.abort(reason);
    second.abort(reason);
    await expect(calls[0]).rejects.toBe(reason);
    await expect(calls[1]).rejects.toThrow("left");
    await pass(1000);
    expect(sent.map(({ input }) => input)).toEqual([`${PATH}?n=3`]);
    // Once it is sent, the signal is the fetch's own.
    sent[0]!.answer(new Response("done"));
    expect(await (await calls[2]!).text()).toBe("done");
  });

  it("are denied at once where the wait is too long", async () => {
    const { sent, limited } = await startDenied({ maxWait: 500 });
    const response = await limited(PATH, POST);
    expect([response.status, sent.length]).toEqual([429, 0]);
  });

  it("are rejected with the error of a fetch that throws", async () => {
    const error = new Error("no network here");
    const limited = rateLimitFetch(
      () => {
        throw error;
      },
      { url: URL_OF_LIMITS, limits: { [`POST ${PATH}`]: "a" } },
    );
    await expect(limited(PATH, POST)).rejects.toBe(error);
  });
});
