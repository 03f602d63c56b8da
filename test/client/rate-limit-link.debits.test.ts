/** The link debits observers for calls of any client, through each of tRPC's links over HTTP. */
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  TRPCClientError,
} from "@trpc/client";
import { describe, expect, it } from "vitest";
import { rateLimitLink, type RateLimitLinkOptions } from "../../client/index.js";
import { HOUR } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { settled, soon } from "../support/soon.js";

const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 6 },
} as const;
const [STATUS, WATCH, TAKE] = ["rateLimit.status", "rateLimit.watch", "take"];
const item = { name: "hourly" };

const LINKS = { httpLink, httpBatchLink, httpBatchStreamLink };

interface StartOptions extends RateLimitLinkOptions {
  through?: keyof typeof LINKS;
  live?: "stream" | "off";
}

/** A client whose observer follows the limit. Without a stream, the observer asks on answers only. */
async function startPage({ through, live = "off", ...link }: StartOptions = {}) {
  const app = await startLimitServer(LIMITS);
  const links = [rateLimitLink({ limits: { [TAKE]: "hourly" }, ...link })];
  const client = through
    ? createTRPCClient<typeof app.router>({
        links: [...links, LINKS[through]({ url: app.server.url })],
      })
    : app.server.connect({ links });
  const observer = app.observe(client, { live });
  observer.observe(item, 1, () => {});
  await soon(() => expect(observer.remaining(item)).toBe(6));
  if (live === "stream") await soon(() => expect(observer.connection).toBe("live"));
  // No earlier answer may be in flight: it would not include a debit. The first answers were slow,
  // and a few more tell the server's time to the ms.
  await settled(() => app.server.requests());
  for (let more = 0; more < 3; more++) {
    const before = app.server.requests(STATUS);
    observer.refresh();
    await soon(() => expect(app.server.requests(STATUS)).toBe(before + 1));
    await soon(() => expect(app.server.open(STATUS)).toBe(0));
  }
  await settled(() => app.server.requests());
  const asked = app.server.requests(STATUS);
  return {
    ...app,
    client,
    observer,
    remaining: () => observer.remaining(item),
    take: (input: { count?: number; fails?: boolean } = {}, signal?: AbortSignal) =>
      client.take.mutate({ name: "hourly", ...input }, signal && { signal }),
    /** How often the observer has asked since the start. */
    asked: () => app.server.requests(STATUS) - asked,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

// Each test waits until the requests have ended, so they wait together.
describe.concurrent.each(["httpLink", "httpBatchLink", "httpBatchStreamLink"] as const)(
  "%s",
  (through) => {
    it("takes a token at once, and asks once after the answer", async () => {
      await using page = await startPage({ through });
      const release = page.server.delay(TAKE);
      const call = page.take();
      expect(page.remaining()).toBe(5);
      expect(page.asked()).toBe(0);
      release();
      await call;
      await settled(() => page.server.requests());
      expect([page.asked(), page.remaining()]).toEqual([1, 5]);
      expect(page.server.requests(WATCH)).toBe(0);
    });

    it("takes a token for each of several calls, and asks once for those that end together", async () => {
      await using page = await startPage({ through });
      const calls = Promise.all([1, 2, 3, 4].map(() => page.take()));
      expect(page.remaining()).toBe(2);
      await calls;
      await settled(() => page.server.requests());
      expect(page.remaining()).toBe(2);
      // The answers of a batch arrive together. Others may arrive while a question is on its way.
      if (through === "httpBatchLink") expect(page.asked()).toBe(1);
      else expect(page.asked()).toBeLessThanOrEqual(4);
    });

    it("keeps the token of a call that failed after its charge, and asks", async () => {
      await using page = await startPage({ through });
      await expect(page.take({ fails: true })).rejects.toMatchObject({
        data: { code: "CONFLICT" },
      });
      expect(page.remaining()).toBe(5);
      await settled(() => page.server.requests());
      expect([page.asked(), page.remaining()]).toEqual([1, 5]);
    });

    it("corrects itself after a call that the server did not charge", async () => {
      await using page = await startPage({ through });
      await expect(page.take({ count: "many" as never })).rejects.toMatchObject({
        data: { code: "BAD_REQUEST" },
      });
      await soon(() => expect(page.remaining()).toBe(6));
      expect(page.asked()).toBe(1);
    });

    it("gives the token back when no answer comes", async () => {
      await using page = await startPage({ through });
      await page.server.kill();
      const call = page.take();
      expect(page.remaining()).toBe(5);
      await expect(call).rejects.toBeInstanceOf(TRPCClientError);
      await soon(() => expect(page.remaining()).toBe(6));
      await soon(() => expect(page.observer.connection).toBe("offline"));
    });

    it("gives the token back and asks when the call is aborted", async () => {
      await using page = await startPage({ through });
      page.server.block(TAKE);
      const aborting = new AbortController();
      const call = page.take({}, aborting.signal);
      expect(page.remaining()).toBe(5);
      aborting.abort();
      await expect(call).rejects.toBeInstanceOf(TRPCClientError);
      await soon(() => expect(page.remaining()).toBe(6));
      await settled(() => page.server.requests());
      expect(page.asked()).toBe(1);
    });

    it("gives the token of a denied call back, and asks once", async () => {
      await using page = await startPage({ through });
      await page.limiter.limit("hourly", { count: 6 });
      await expect(page.take()).rejects.toMatchObject({ data: { code: "TOO_MANY_REQUESTS" } });
      expect(page.remaining()).toBe(0);
      await settled(() => page.server.requests());
      expect([page.asked(), page.remaining()]).toEqual([1, 0]);
    });
  },
);

it.concurrent("makes no request beside the calls while the stream is live", async () => {
  await using page = await startPage({ live: "stream" });
  const before = page.server.requests();
  for (const left of [5, 4, 3]) {
    const call = page.take();
    expect(page.remaining()).toBe(left);
    await call;
    await settled(page.remaining);
    expect(page.remaining()).toBe(left);
  }
  expect(page.server.requests()).toBe(before + 3);
});

it.concurrent("takes the declared count, and nothing for a count of 0", async () => {
  await using page = await startPage({
    limits: ({ path, input }) =>
      path === TAKE ? { name: "hourly", count: (input as { count: number }).count } : null,
  });
  const calls = [page.take({ count: 3 }), page.take({ count: 0 })];
  expect(page.remaining()).toBe(3);
  await Promise.all(calls);
  await settled(() => page.server.requests());
  expect(page.remaining()).toBe(3);
});

it.concurrent(
  "leaves a debit of the page to its call when one of 0 tokens comes first",
  async () => {
    await using page = await startPage({
      limits: ({ path, input }) =>
        path === TAKE ? { name: "hourly", count: (input as { count: number }).count } : null,
    });
    const settle = page.observer.debit(item, 1);
    const calls = [page.take({ count: 0 }), page.take({ count: 1 })];
    expect(page.remaining()).toBe(5);
    await Promise.all(calls);
    settle(true);
    await settled(() => page.server.requests());
    expect(page.remaining()).toBe(5);
  },
);

it.concurrent("takes nothing for procedures without a limit, or with a limit of null", async () => {
  for (const limits of [{}, { [TAKE]: null }]) {
    await using page = await startPage({ limits });
    await page.take();
    await settled(() => page.server.requests());
    expect([page.asked(), page.remaining()]).toEqual([0, 6]);
  }
});

it.concurrent('takes nothing with on: "error", and asks after a failure', async () => {
  await using page = await startPage({ limits: { [TAKE]: { name: "hourly", on: "error" } } });
  await page.take({ count: 0 });
  await settled(() => page.server.requests());
  expect([page.asked(), page.remaining()]).toEqual([0, 6]);
  const failed = page.take({ fails: true });
  expect(page.remaining()).toBe(6);
  await expect(failed).rejects.toMatchObject({ data: { code: "CONFLICT" } });
  await soon(() => expect(page.remaining()).toBe(5));
  expect(page.asked()).toBe(1);
});

it.concurrent("does not take the observer's own questions for calls", async () => {
  await using page = await startPage({ limits: () => "hourly" });
  await page.take();
  await settled(() => page.server.requests());
  expect([page.asked(), page.remaining()]).toEqual([1, 5]);
});

it.concurrent("takes the tokens of held calls when they are sent", async () => {
  await using page = await startPage({ whenLimited: "wait", jitter: 0 });
  await page.limiter.limit("hourly", { count: 6 });
  await expect(page.take()).rejects.toMatchObject({ data: { code: "TOO_MANY_REQUESTS" } });
  await settled(() => page.server.requests());
  const held = page.take();
  await page.limiter.reset("hourly");
  page.observer.refresh();
  await soon(() => expect(page.remaining()).toBe(6));
  await held;
  await settled(() => page.server.requests());
  expect(page.remaining()).toBe(5);
});
