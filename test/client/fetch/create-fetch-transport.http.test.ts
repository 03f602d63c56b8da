/** The transport and the server's handler, over HTTP. */
import { EventSource } from "eventsource";
import { expect, it } from "vitest";
import { createRateLimitObserver, rateLimitFetch } from "../../../client/fetch/index.js";
import {
  createRateLimiter,
  createRateLimitHandler,
  HOUR,
  memoryStore,
  rateLimitResponse,
} from "../../../server/index.js";
import { serveFetch } from "../../support/serve-fetch.js";
import { soon } from "../../support/soon.js";

const item = { name: "hourly" } as const;

async function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 } },
  });
  const key = (request: Request) => request.headers.get("Authorization");
  const handler = createRateLimitHandler({ limiter, key: ({ request }) => key(request) });
  const host = await serveFetch(async (request) => {
    if (new URL(request.url).pathname === "/limits") return handler(request);
    try {
      await limiter.limit("hourly", { key: key(request)!, throws: true });
      return new Response("sent");
    } catch (error) {
      return rateLimitResponse(error);
    }
  });
  const url = `${host.url}/limits`;
  const headers = { Authorization: "ann" };
  const observer = createRateLimitObserver<typeof limiter>({ url, headers, EventSource });
  observer.observe(item, 1, () => {});
  return {
    url,
    limiter,
    observer,
    send: rateLimitFetch<typeof limiter>(fetch, { url, limits: { "POST /send": "hourly" } }),
    address: `${host.url}/send`,
    headers,
    async [Symbol.asyncDispose]() {
      observer.close();
      await host[Symbol.asyncDispose]();
    },
  };
}

it("follows the limits of a handler, with the header fields of the page", async () => {
  await using page = await start();
  const { observer, limiter } = page;
  await soon(() => expect(observer.connection).toBe("live"));
  expect(observer.remaining(item)).toBe(3);
  await limiter.limit("hourly", { key: "ann", count: 2 });
  await limiter.limit("hourly", { key: "bob", count: 3 });
  await soon(() => expect(observer.remaining(item)).toBe(1));
});

it("learns from the answers of a route beside the handler", async () => {
  await using page = await start();
  const { observer, send, address, headers } = page;
  await soon(() => expect(observer.connection).toBe("live"));
  const statuses: number[] = [];
  for (let call = 0; call < 4; call++) {
    const response = await send(address, { method: "POST", headers });
    statuses.push(response.status);
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
  expect(observer.status(item, 1)?.ok).toBe(false);
});
