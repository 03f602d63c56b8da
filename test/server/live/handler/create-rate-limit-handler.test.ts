/** Each request that the handler answers, and each that it refuses, with the status and the code. */
import { describe, expect, it, vi } from "vitest";
import { createManualClock } from "../../../../core/testing.js";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  MINUTE,
  SHARED_BUCKET,
} from "../../../../server/index.js";

const config = { kind: "token bucket", rate: 10, period: MINUTE } as const;

function start() {
  const clock = createManualClock(0);
  const limiter = createRateLimiter({
    store: memoryStore(),
    clock,
    limits: { send: { ...config, maxReserved: 5 }, hidden: config },
  });
  const handler = createRateLimitHandler({
    limiter,
    expose: ["send"],
    key: ({ request, requested }) => {
      if (requested?.startsWith("team") === false) return null;
      return requested ?? request.headers.get("x-user");
    },
    authorize: ({ request }) => request.headers.get("x-role") === "admin",
  });
  const ADMIN = { "x-user": "ada", "x-role": "admin" };
  const get = (query: string | Record<string, string>, headers: object = { "x-user": "ada" }) =>
    handler(new Request(`http://x/y?${new URLSearchParams(query)}`, { headers: { ...headers } }));
  const post = (body: unknown, headers: object = ADMIN) =>
    handler(
      new Request("http://x/", {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: body as string,
      }),
    );
  const postJson = (body: unknown, headers?: object) => post(JSON.stringify(body), headers);
  return { limiter, handler, get, post, postJson, clock };
}

const send = { name: "send" };
async function shown(answer: Promise<Response>) {
  const response = await answer;
  const text = await response.text();
  return [response.status, text === "" ? undefined : (JSON.parse(text) as unknown)];
}
const refusal = (status: number, code: string, message: string | RegExp = /./) => [
  status,
  { code, message: expect.stringMatching(message) as string },
];

describe("a request", () => {
  it("of status gets the snapshot, with the key that it requested alone", async () => {
    const { get, limiter } = start();
    await limiter.limit("send", { key: "ada", count: 4 });
    const [status, own] = await shown(get({ action: "status", ...send }));
    expect([status, own]).toMatchObject([200, { name: "send", value: 6, config, now: 0 }]);
    expect(own).not.toHaveProperty("key");
    const team = { action: "status", ...send, key: "team a" };
    expect(await shown(get(team))).toMatchObject([200, { key: "team a", value: 10 }]);
  });

  it("of status with a list gets each answer in its place, refusals among them", async () => {
    const { get } = start();
    const items = [send, { ...send, key: "eve" }, { ...send, count: 11 }, { ...send, count: 10 }];
    const [status, list] = await shown(get({ action: "status", items: JSON.stringify(items) }));
    expect(status).toBe(200);
    expect(list).toEqual([
      { snapshot: expect.objectContaining({ name: "send", value: 10 }) as object },
      {
        status: 400,
        error: {
          code: "BAD_REQUEST",
          message: 'This caller may not use the requested key of rate limit "send"',
        },
      },
      {
        status: 413,
        error: { code: "PAYLOAD_TOO_LARGE", message: expect.stringContaining("11") as string },
      },
      { snapshot: expect.objectContaining({ name: "send", value: 10 }) as object },
    ]);
  });

  it("of check gets what check answers, and takes nothing", async () => {
    const { get, limiter } = start();
    const query = { action: "check", ...send, count: "10" };
    expect(await shown(get(query))).toMatchObject([200, { ok: true, value: 0 }]);
    await limiter.limit("send", { key: "ada" });
    expect(await shown(get(query))).toMatchObject([200, { ok: false, retryAfter: 6000 }]);
  });

  it("of limit takes tokens, also of the future, and a denial is an answer", async () => {
    const { postJson } = start();
    const limit = { action: "limit", ...send };
    expect(await shown(postJson(limit))).toMatchObject([200, { ok: true, value: 9 }]);
    const ten = { ...limit, count: 10 };
    expect(await shown(postJson(ten))).toMatchObject([200, { ok: false, retryAfter: 6000 }]);
    const reserved = await shown(postJson({ ...ten, reserve: true }));
    expect(reserved).toMatchObject([200, { ok: true, value: -1, retryAfter: 6000 }]);
  });

  it("of reset fills the bucket, and gets 204 without a body", async () => {
    const { postJson, limiter } = start();
    await limiter.limit("send", { key: "ada", count: 4 });
    expect(await shown(postJson({ action: "reset", ...send }))).toEqual([204, undefined]);
    expect((await limiter.getValue("send", { key: "ada" })).value).toBe(10);
  });

  it("may have parameters of others", async () => {
    expect(await shown(start().get({ action: "status", ...send, utm: "x" }))).toMatchObject([
      200,
      {},
    ]);
  });

  it("takes the first of two parameters of one name", async () => {
    expect(await shown(start().get("action=status&name=send&name=hidden"))).toMatchObject([
      200,
      { name: "send" },
    ]);
  });
});

describe("a request is refused", () => {
  const items = (given: unknown) => ({ action: "status", items: JSON.stringify(given) });
  const many = (count: number) => Array.from({ length: count }, () => send);

  it.each([
    ["no action", {}],
    ["an action of POST", { action: "limit", ...send }],
    ["a prototype's action", { action: "constructor", ...send }],
    ["no name", { action: "status" }],
    ["a name that is not exposed", { action: "status", name: "hidden" }],
    ["a name of no limit", { action: "check", name: "nope" }],
    ["the name __proto__", { action: "status", name: "__proto__" }],
    ["the name constructor", { action: "status", name: "constructor" }],
    ["a key that is empty", { action: "status", ...send, key: "" }],
    ["a key of 192 characters", { action: "status", ...send, key: "k".repeat(192) }],
    ["a key with a NUL", { action: "status", ...send, key: "team\0" }],
    ...["", "0x10", " 1", "1 ", "NaN", "Infinity", "-1", "1.2.3", ".", "1e", "١", "1e999"].map(
      (count) => [`the count ${JSON.stringify(count)}`, { action: "status", ...send, count }],
    ),
    ["items that are no JSON", { action: "status", items: "[" }],
    ["items that are no list", items({ 0: send })],
    ["no items", items([])],
    ["101 items", items(many(101))],
    ["an item that is null", items([null])],
    ["an item that is a list", items([[send]])],
    ["an item that is a text", items(["send"])],
    ["an item with a config", items([{ ...send, config }])],
    ["an item with reserve", items([{ ...send, reserve: true }])],
    ["an item with __proto__", { action: "status", items: '[{"__proto__":{"name":"send"}}]' }],
    ["an item with __proto__ too", { action: "status", items: '[{"name":"send","__proto__":1}]' }],
    ["an item whose count is a text", items([{ ...send, count: "1" }])],
    ["an item whose count is null", items([{ ...send, count: null }])],
    ["an item whose key is a number", items([{ ...send, key: 1 }])],
    ["an item whose name is a list", items([{ name: ["send"] }])],
    ["one bad name among good ones", items([send, { name: "nope" }])],
    ["a stream of nothing", { action: "watch" }],
    ["a stream with a count", { action: "watch", items: '[{"name":"send","count":1}]' }],
    ["a stream of 101 items", { action: "watch", items: JSON.stringify(many(101)) }],
    ["a stream with an empty id", { action: "watch", items: '[{"name":"send"}]', stream: "" }],
    [
      "a stream with an id of 65 characters",
      { action: "watch", items: '[{"name":"send"}]', stream: "s".repeat(65) },
    ],
  ] as [string, Record<string, string>][])("for %s", async (_what, query) => {
    expect(await shown(start().get(query))).toEqual(refusal(400, "BAD_REQUEST"));
  });

  it("for a Last-Event-ID of 65 characters", async () => {
    const query = { action: "watch", items: '[{"name":"send"}]' };
    const headers = { "x-user": "ada", "Last-Event-ID": "s".repeat(65) };
    expect(await shown(start().get(query, headers))).toEqual(refusal(400, "BAD_REQUEST"));
  });

  it.each([1, 100])("not for %i items", async (count) => {
    const [status, list] = await shown(start().get(items(many(count))));
    expect([status, (list as unknown[]).length]).toEqual([200, count]);
  });

  it.each([
    ["1e1", 10],
    ["0", 0],
    ["2.5", 2.5],
    ["1E+1", 10],
  ])("not for the count %j", async (count, taken) => {
    const answer = shown(start().get({ action: "check", ...send, count }));
    expect(await answer).toMatchObject([200, { ok: true, value: 10 - taken }]);
  });

  it("for a count that never fits, with 413", async () => {
    const { get, postJson } = start();
    const tooLarge = refusal(413, "PAYLOAD_TOO_LARGE");
    for (const action of ["status", "check"]) {
      expect(await shown(get({ action, ...send, count: "11" }))).toEqual(tooLarge);
    }
    expect(await shown(postJson({ action: "limit", ...send, count: 11 }))).toEqual(tooLarge);
  });

  it.each([
    ["an empty text", ""],
    ["no JSON", "{ action: limit"],
    ["JSON with a NUL", '{"action":"limit"}\0'],
    ["null", "null"],
    ["a number", "1"],
    ["a list", '["limit"]'],
    ["a text", '"limit"'],
    ["no action", '{"name":"send"}'],
    ["an action of GET", '{"action":"status","name":"send"}'],
    ["an action that is a list", '{"action":["limit"],"name":"send"}'],
    ["a prototype", '{"__proto__":{"action":"limit","name":"send"}}'],
    ["a prototype too", '{"action":"limit","name":"send","__proto__":{"count":0}}'],
    ["an unknown field", '{"action":"limit","name":"send","config":{}}'],
    ["a plan", '{"action":"limit","name":"send","plan":"pro"}'],
    ["reserve as a text", '{"action":"limit","name":"send","reserve":"true"}'],
    ["a count of null", '{"action":"limit","name":"send","count":null}'],
    ["a count below 0", '{"action":"limit","name":"send","count":-1}'],
    ["reset with a count", '{"action":"reset","name":"send","count":1}'],
    ["10,000 lists in each other", "[".repeat(5000) + "]".repeat(5000)],
  ])("for a body that is %s", async (_what, body) => {
    const { post, limiter } = start();
    expect(await shown(post(body))).toEqual(refusal(400, "BAD_REQUEST"));
    expect((await limiter.getValue("send", { key: "ada" })).value).toBe(10);
  });

  it("for a body that a client gives up", async () => {
    const { post } = start();
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const request = new Request("http://x/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
    expect(await shown(start().handler(request))).toEqual(refusal(400, "BAD_REQUEST"));
    expect(await shown(post(undefined))).toEqual(refusal(400, "BAD_REQUEST"));
  });

  it("for a body of more than 10,000 bytes, of which no more is read", async () => {
    const { post, postJson, handler } = start();
    const tooLarge = refusal(413, "PAYLOAD_TOO_LARGE");
    const limit = JSON.stringify({ action: "limit", ...send });
    expect(await shown(post(limit + " ".repeat(10_000 - limit.length)))).toMatchObject([200, {}]);
    expect(await shown(post(limit + " ".repeat(10_001 - limit.length)))).toEqual(tooLarge);
    expect(await shown(postJson({ action: "é".repeat(5000) }))).toEqual(tooLarge);
    const cancelled = vi.fn();
    let pulls = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulls++;
        controller.enqueue(new Uint8Array(3000));
      },
      cancel: cancelled,
    });
    const init = { method: "POST", headers: { "content-type": "application/json" }, body };
    const endless = new Request("http://x/", { ...init, duplex: "half" } as RequestInit);
    expect(await shown(handler(endless))).toEqual(tooLarge);
    expect(pulls).toBeLessThan(7);
    expect(cancelled).toHaveBeenCalledTimes(1);
  });

  it.each([
    "text/plain",
    "text/plain;charset=UTF-8",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/json-patch+json",
    "text/plain, application/json",
    "text/plain; a=application/json",
    "json",
    "",
  ])("for the content type %j, by which another site could send it", async (type) => {
    const { post, limiter } = start();
    const body = JSON.stringify({ action: "limit", ...send });
    const headers = { "x-user": "ada", "x-role": "admin", "content-type": type };
    expect(await shown(post(body, headers))).toEqual(refusal(415, "UNSUPPORTED_MEDIA_TYPE"));
    expect((await limiter.getValue("send", { key: "ada" })).value).toBe(10);
  });

  it.each(["application/json", "Application/JSON; charset=utf-8", " application/json ;"])(
    "not for the content type %j",
    async (type) => {
      const headers = { "x-user": "ada", "x-role": "admin", "content-type": type };
      const answer = start().postJson({ action: "limit", ...send }, headers);
      expect((await answer).status).toBe(200);
    },
  );

  it.each(["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "PROPFIND"])(
    "for the method %s, with the methods that are allowed",
    async (method) => {
      const request = new Request("http://x/?action=status&name=send", { method });
      const response = await start().handler(request);
      expect(response.status).toBe(405);
      expect(response.headers.get("Allow")).toBe("GET, POST");
      expect(await response.json()).toMatchObject({ code: "METHOD_NOT_SUPPORTED" });
    },
  );

  it("for limit and reset unless authorize allows them", async () => {
    const { postJson, limiter, handler } = start();
    await limiter.limit("send", { key: "ada" });
    for (const action of ["limit", "reset"]) {
      const message = `This caller may not use "${action}" on rate limit "send"`;
      const answer = postJson({ action, ...send }, { "x-user": "ada" });
      expect(await shown(answer)).toEqual(refusal(403, "FORBIDDEN", message));
    }
    expect((await limiter.getValue("send", { key: "ada" })).value).toBe(9);
    const readOnly = createRateLimitHandler({ limiter, key: SHARED_BUCKET });
    const request = new Request("http://x/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"action":"limit","name":"hidden"}',
    });
    expect(await shown(readOnly(request))).toEqual(refusal(403, "FORBIDDEN"));
    expect(Object.keys(handler.limits)).toEqual(["send"]);
    expect(Object.keys(readOnly.limits)).toEqual(["send", "hidden"]);
  });

  it("for a caller without a key", async () => {
    const { get, postJson } = start();
    const noKey = refusal(400, "BAD_REQUEST", /^Rate limit "send" has no key for this caller$/);
    for (const action of ["status", "check"])
      expect(await shown(get({ action, ...send }, {}))).toEqual(noKey);
    expect(await shown(postJson({ action: "limit", ...send }, { "x-role": "admin" }))).toEqual(
      noKey,
    );
  });
});
