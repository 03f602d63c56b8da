/** A subscription with a slot whose connection loses its network: the page reconnects, and is known again. */
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client";
import { initTRPC } from "@trpc/server";
import { EventSource } from "eventsource";
import { expect, it } from "vitest";
import { z } from "zod";
import { createRateLimiter, memoryStore } from "../../../server/index.js";
import { createRateLimitTRPC } from "../../../server/trpc/index.js";
import { startServer } from "../../support/http.js";
import { startSilentProxy } from "../../support/silent-proxy.js";
import { soon } from "../../support/soon.js";

async function start() {
  const limiter = createRateLimiter({
    store: memoryStore(),
    limits: { streams: { kind: "concurrency", slots: 1, ttl: 3000 } },
  });
  const t = initTRPC.create({
    sse: { ping: { enabled: true, intervalMs: 100 }, client: { reconnectAfterInactivityMs: 1000 } },
  });
  const rl = createRateLimitTRPC({ t, limiter, key: () => "ada" });
  const ends: unknown[] = [];
  const router = t.router({
    follow: t.procedure
      .input(z.object({ page: z.string() }))
      .use(rl.rateLimited("streams", { holder: ({ input }) => (input as { page: string }).page }))
      .subscription(async function* ({ input, ctx }) {
        yield `hello ${input.page}`;
        await new Promise<void>((resolve) => {
          ctx.rateLimit.signal?.addEventListener("abort", () => resolve());
        });
        ends.push(input.page);
      }),
  });
  const server = await startServer(router, () => ({}));
  const proxy = await startSilentProxy(server.url);
  const client = createTRPCClient<typeof router>({
    links: [httpSubscriptionLink({ url: proxy.url.replace(/\/$/, ""), EventSource })],
  });
  function follow(page: string) {
    const seen = { data: [] as string[], error: undefined as unknown };
    const subscription = client.follow.subscribe(
      { page },
      { onData: (text) => seen.data.push(text), onError: (error) => (seen.error = error) },
    );
    return Object.assign(seen, { unsubscribe: () => subscription.unsubscribe() });
  }
  return {
    limiter,
    server,
    proxy,
    follow,
    ends,
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

it("goes on after tRPC's own reconnect, and the stream of the dead connection ends", async () => {
  await using at = await start();
  const page = at.follow("page 1");
  await soon(() => expect(page.data).toEqual(["hello page 1"]));

  at.proxy.cut();
  await soon(() => expect(page.data).toEqual(["hello page 1", "hello page 1"]));
  await soon(() => expect(at.ends).toEqual(["page 1"]));
  expect(page.error).toBeUndefined();
  // Its end frees no slot but its own.
  expect((await at.limiter.check("streams", { key: "ada" })).value).toBe(0);
  page.unsubscribe();
  await soon(async () => {
    expect((await at.limiter.check("streams", { key: "ada" })).value).toBe(1);
  });
});

it("denies the stream of another page while the first one is open", async () => {
  await using at = await start();
  const first = at.follow("page 1");
  await soon(() => expect(first.data).toHaveLength(1));
  const other = at.follow("page 2");
  await soon(() => expect(other.error).toBeDefined());
  expect([other.data, first.error]).toEqual([[], undefined]);
  first.unsubscribe();
});

it("ends the stream of a page whose id another one sends, for good", async () => {
  await using at = await start();
  const first = at.follow("page 1");
  await soon(() => expect(first.data).toHaveLength(1));
  const twin = at.follow("page 1");
  await soon(() => expect(twin.data).toHaveLength(1));
  await soon(() => expect(first.error).toMatchObject({ data: { code: "CONFLICT" } }));
  expect([first.data.length, twin.error]).toEqual([1, undefined]);
  twin.unsubscribe();
});
