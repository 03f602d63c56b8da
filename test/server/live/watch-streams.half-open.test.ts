/** Connections that lose their network: the page reconnects, and the server still has the old stream. */
import { createTRPCClient, httpBatchLink, httpSubscriptionLink, splitLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { EventSource } from "eventsource";
import { expect, it } from "vitest";
import { createRateLimitObserver, createTRPCTransport } from "../../../client/index.js";
import { createRateLimiter, HOUR, memoryStore } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { startSilentProxy } from "../../support/silent-proxy.js";
import { soon } from "../../support/soon.js";

it("is live again after tRPC's own reconnect, though the caller may have one stream alone", async () => {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { hourly: { kind: "token bucket", rate: 3, period: HOUR } },
  });
  const t = initTRPC.create({
    sse: { ping: { enabled: true, intervalMs: 100 }, client: { reconnectAfterInactivityMs: 1000 } },
  });
  const rl = createRateLimitTRPC({ t, limiter, maxStreams: 1, key: () => "ada" });
  const router = t.router({ rateLimit: rl.router });
  await using server = await startServer(router, () => ({}));
  await using proxy = await startSilentProxy(server.url);
  const url = proxy.url.replace(/\/$/, "");
  const client = createTRPCClient<typeof router>({
    links: [
      splitLink({
        condition: ({ type }) => type === "subscription",
        true: httpSubscriptionLink({ url, EventSource }),
        false: httpBatchLink({ url }),
      }),
    ],
  });
  const observer = createRateLimitObserver({
    transport: createTRPCTransport(client, "rateLimit"),
    // So that nothing but a stream tells of changes.
    pollInterval: HOUR,
  });
  const item = { name: "hourly" } as const;
  observer.observe(item, 1, () => {});
  await soon(() => expect(observer.connection).toBe("live"));

  proxy.cut();
  await soon(() => expect(server.requests("rateLimit.watch")).toBe(2));
  await soon(() => expect(observer.connection).toBe("live"));
  await limiter.limit("hourly", { key: "ada", count: 3 });
  await soon(() => expect(observer.status(item, 1)?.ok).toBe(false));
  expect(server.requests("rateLimit.watch")).toBe(2);
  observer.close();
});
