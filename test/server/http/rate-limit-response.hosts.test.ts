/** Hosts without tRPC, over HTTP: the responses to a denied client, and to a client during an outage. */
import pg from "pg";
import { parseList } from "structured-headers";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { isRateLimitError } from "../../../client/index.js";
import { createRateLimiter, memoryStore, MINUTE, pgStore } from "../../../server/index.js";
import { httpHosts } from "../../support/http-hosts.js";

const config = { kind: "token bucket", rate: 2, period: MINUTE, capacity: 1 } as const;
const limits = { send: config };

const post = (url: string) => fetch(url, { method: "POST" });

/** A limiter whose database refuses connections. */
function withoutDatabase() {
  const pool = new pg.Pool({ connectionString: "postgresql://secret@127.0.0.1:1/none" });
  return createRateLimiter({ store: pgStore(pool), limits, logger: false });
}

describe.each(Object.entries(httpHosts))("%s", (_host, start) => {
  it("tells a denied client when to try again, in header fields and in JSON", async () => {
    const clock = createManualClock();
    const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
    await using app = await start(limiter);

    const granted = await post(`${app.url}/send`);
    expect([granted.status, await granted.json()]).toEqual([200, { sent: true }]);
    expect(granted.headers.get("RateLimit-Policy")).toBe('"send";q=2;w=60');
    expect(granted.headers.get("RateLimit")).toBe('"send";r=0;t=30');
    expect(granted.headers.get("Retry-After")).toBeNull();

    clock.advance(500);
    const denied = await post(`${app.url}/send`);
    expect(denied.status).toBe(429);
    expect(denied.headers.get("Content-Type")).toMatch(/^application\/json/);
    expect(denied.headers.get("Retry-After")).toBe("30");
    expect(parseList(denied.headers.get("RateLimit")!)).toEqual([
      [
        "send",
        new Map([
          ["r", 0],
          ["t", 30],
        ]),
      ],
    ]);
    const rateLimit: unknown = await denied.json();
    const error = { data: { rateLimit } };
    if (!isRateLimitError(error)) expect.fail("the client does not know the denial");
    expect(error.data.rateLimit).toEqual({
      kind: "RateLimited",
      name: "send",
      retryAfter: 29_500,
      value: expect.closeTo(1 / 60, 12),
      config,
      now: clock(),
    });

    clock.advance(error.data.rateLimit.retryAfter);
    expect((await post(`${app.url}/send`)).status).toBe(200);
  });

  it("answers a denied result in the same way", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits, clock: createManualClock() });
    await using app = await start(limiter);
    expect((await post(`${app.url}/asked`)).status).toBe(200);
    const denied = await post(`${app.url}/asked`);
    expect(denied.status).toBe(429);
    expect(denied.headers.get("Retry-After")).toBe("30");
    expect(denied.headers.get("RateLimit")).toBe('"send";r=0;t=30');
    expect(await denied.json()).toMatchObject({ retryAfter: 30_000 });
  });

  it("answers 503 without internals while the database is down", async () => {
    await using app = await start(withoutDatabase());
    const response = await post(`${app.url}/send`);
    expect(response.status).toBe(503);
    expect(await response.text()).toBe('{"kind":"StoreFailure"}');
    const names = [...response.headers.keys()];
    expect(names.filter((name) => /ratelimit|retry/.test(name))).toEqual([]);
  });

  it("leaves errors of the application to the host", async () => {
    const limiter = createRateLimiter({ store: memoryStore(), limits });
    await using app = await start(limiter);
    expect((await post(`${app.url}/broken`)).status).toBe(500);
  });
});
