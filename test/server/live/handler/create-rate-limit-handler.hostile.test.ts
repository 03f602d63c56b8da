/** Random requests of a hostile client: no error of the server, no token taken, and no stream left open. */
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import {
  createRateLimiter,
  createRateLimitHandler,
  memoryStore,
  MINUTE,
} from "../../../../server/index.js";

const config = { kind: "token bucket", rate: 5, period: MINUTE } as const;
const limiter = createRateLimiter({
  store: memoryStore(),
  clock: () => 0,
  limits: { send: config, team: { ...config, shards: 2 } },
});
const handler = createRateLimitHandler({
  limiter,
  key: ({ request, requested }) => requested ?? (request.headers.has("x-user") ? "ada" : null),
});

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 300 }),
  oneOf("", "__proto__", "constructor", "\0", "\ud800", "%", "%zz", "\r\n", "null", "-0", "1e309"),
);
const names = fc.oneof({ weight: 3, arbitrary: oneOf("send", "team") }, text);
const values = fc.oneof(text, fc.double(), fc.boolean(), fc.constant(null), fc.jsonValue());
const item = fc.oneof(
  fc.record({ name: names, key: values, count: values, reserve: values }, { requiredKeys: [] }),
  fc.record({ name: names }),
  fc.dictionary(oneOf("name", "key", "__proto__", "toString", "config"), values),
  values,
);
const items = fc.oneof(
  fc.array(item, { maxLength: 5 }).map((list) => JSON.stringify(list)),
  fc
    .integer({ min: 99, max: 102 })
    .map((n) => JSON.stringify(Array.from({ length: n }, () => ({ name: "send" })))),
  fc.json(),
  text,
);
const actions = fc.oneof(
  { weight: 4, arbitrary: oneOf("status", "check", "watch", "limit", "reset") },
  text,
);
const query = fc
  .record(
    { action: actions, name: names, key: text, count: text, items, stream: text },
    { requiredKeys: [] },
  )
  .map((record) => new URLSearchParams(record as Record<string, string>).toString());
const body = fc.oneof(
  fc
    .record({ action: fc.oneof(actions, values), name: names, key: values, count: values })
    .map((given) => JSON.stringify(given)),
  fc.json(),
  text,
  fc.uint8Array({ maxLength: 50 }),
  oneOf("x".repeat(10_001), '{"action":"limit","name":"send"}', "[".repeat(9000)),
);
/** What a field can have: texts of bytes without line ends. */
const fieldValue = fc
  .string({ unit: "binary", maxLength: 80 })
  .map((value) => value.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "~"));
const requests = fc.record({
  method: fc.oneof(
    { weight: 5, arbitrary: oneOf("GET", "POST") },
    oneOf("PUT", "HEAD", "OPTIONS", "get", "M-SEARCH"),
  ),
  query: fc.oneof({ weight: 5, arbitrary: query }, text),
  body,
  headers: fc.record(
    {
      "x-user": oneOf("ada"),
      "content-type": fc.oneof({ weight: 4, arbitrary: oneOf("application/json") }, fieldValue),
      "last-event-id": fieldValue,
      accept: fieldValue,
    },
    { requiredKeys: [] },
  ),
});

it("5,500 requests get answers below 500, and take nothing", { timeout: 60_000 }, async () => {
  const statuses = new Map<number, number>();
  const ask = async ({ method, query: search, body: sent, headers }: Requested) => {
    const client = new AbortController();
    const hasBody = !["GET", "HEAD", "get"].includes(method);
    const request = new Request(new URL(`http://x/limits?${search}`), {
      method,
      headers: headers as Record<string, string>,
      signal: client.signal,
      ...(hasBody && { body: sent as string }),
    });
    const response = await handler(request);
    const { status } = response;
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    expect(status).toBeLessThan(500);
    if (response.headers.get("Content-Type") === "text/event-stream") client.abort();
    else if (status >= 400) {
      const answer = (await response.json()) as { code: string; message: string };
      expect(answer).toEqual({ code: expect.any(String), message: expect.any(String) });
      expect(answer.message.length).toBeLessThan(300);
    }
  };
  type Requested = typeof requests extends fc.Arbitrary<infer T> ? T : never;
  await fc.assert(fc.asyncProperty(requests, ask), { numRuns: 5500 });
  for (const status of [200, 400, 403, 405, 413, 415]) {
    expect(statuses.get(status)).toBeGreaterThan(20);
  }
  expect((await limiter.getValue("send", { key: "ada" })).value).toBe(5);
  // All streams of the caller have ended.
  for (let i = 0; i < 10; i++) {
    const search = new URLSearchParams({ action: "watch", items: '[{"name":"send"}]' });
    const headers = { "x-user": "ada" };
    const { status, body: stream } = await handler(new Request(`http://x/?${search}`, { headers }));
    expect(status).toBe(200);
    onTestFinished(() => stream!.cancel());
  }
});
