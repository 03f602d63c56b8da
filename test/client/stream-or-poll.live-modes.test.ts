/** How many requests each mode of `live` makes, against a real router. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  createRateLimitObserver,
  createTRPCTransport,
  type RateLimitObserverOptions,
} from "../../client/index.js";
import { HOUR, MINUTE } from "../../server/index.js";
import { pass } from "../support/hand-transport.js";
import { startLocalApp } from "../support/local-app.js";

const [STATUS, WATCH] = ["rateLimit.status", "rateLimit.watch"];
const [send, other] = [{ name: "send" }, { name: "other" }] as const;

beforeEach(() => void vi.useFakeTimers({ now: 1e12 }));
afterEach(() => void vi.useRealTimers());

/** A page that has followed two limits for a second. */
async function startPage(options: Omit<RateLimitObserverOptions, "transport">) {
  const app = startLocalApp({ limits: { send: "send" } });
  const observer = createRateLimitObserver({
    transport: createTRPCTransport(app.client, "rateLimit"),
    clock: () => Date.now(),
    ...options,
  });
  for (const item of [send, other]) observer.observe(item, 1, () => {});
  await pass(1000);
  expect([observer.remaining(send), observer.remaining(other)]).toEqual([5, 5]);
  return {
    ...app,
    observer,
    /** The questions about each limit since the last time, and the streams. */
    requests: () => ({ status: app.calls(STATUS) / 2, watch: app.calls(WATCH) }),
    async [Symbol.asyncDispose]() {
      observer.close();
      // The stream ends a moment after it is closed.
      await pass(60_000);
    },
  };
}

describe('live: "stream"', () => {
  it("asks once and opens one stream, and makes no other request in an hour", async () => {
    await using page = await startPage({});
    expect(page.observer.connection).toBe("live");
    expect(page.requests()).toEqual({ status: 1, watch: 1 });
    await pass(HOUR);
    expect(page.requests()).toEqual({ status: 0, watch: 0 });
  });

  it("asks nothing after a call, because the stream reports the charge", async () => {
    await using page = await startPage({});
    page.requests();
    await page.client.send.mutate();
    expect(page.observer.remaining(send)).toBe(4);
    await pass(MINUTE);
    expect(page.requests()).toEqual({ status: 0, watch: 0 });
    expect(page.observer.remaining(send)).toBe(4);
  });
});

describe('live: "poll"', () => {
  it("asks at first and every pollInterval, and opens no stream", async () => {
    await using page = await startPage({ live: "poll", pollInterval: 10_000 });
    expect(page.observer.connection).toBe("polling");
    expect(page.requests()).toEqual({ status: 1, watch: 0 });
    await pass(MINUTE);
    expect(page.requests()).toEqual({ status: 6, watch: 0 });
    await page.limiter.limit("send", { count: 2 });
    await pass(10_000);
    expect(page.observer.remaining(send)).toBe(3);
  });

  it("asks every five seconds by default, and not any more once nothing is followed", async () => {
    await using page = await startPage({ live: "poll" });
    await pass(HOUR);
    expect(page.requests()).toEqual({ status: 1 + 720, watch: 0 });
    page.observer.close();
    await pass(HOUR);
    expect(page.requests()).toEqual({ status: 0, watch: 0 });
  });

  it("asks once more after a call", async () => {
    await using page = await startPage({ live: "poll", pollInterval: HOUR });
    page.requests();
    await page.client.send.mutate();
    await pass(MINUTE);
    expect([page.calls(STATUS), page.calls(WATCH)]).toEqual([1, 0]);
  });
});

describe('live: "off"', () => {
  it("asks at first, and then makes no request in a day", async () => {
    await using page = await startPage({ live: "off", pollInterval: 1000 });
    expect(page.requests()).toEqual({ status: 1, watch: 0 });
    expect(page.observer.connection).toBe("polling");
    await pass(24 * HOUR);
    expect(page.requests()).toEqual({ status: 0, watch: 0 });
  });

  it("asks once after a call, for its limit, and once after calls that end together", async () => {
    await using page = await startPage({ live: "off" });
    page.requests();
    await page.client.send.mutate();
    await pass(MINUTE);
    expect([page.calls(STATUS), page.calls(WATCH)]).toEqual([1, 0]);
    await Promise.all([1, 2, 3].map(() => page.client.send.mutate()));
    expect(page.observer.remaining(send)).toBe(1);
    await pass(MINUTE);
    // One that is on its way when a later call ends is asked again.
    expect(page.calls(STATUS)).toBeLessThanOrEqual(2);
    expect(page.observer.remaining(send)).toBe(1);
  });

  it("asks once after a denial, and flips back at the predicted instant without a request", async () => {
    await using page = await startPage({ live: "off" });
    await page.limiter.limit("send", { count: 5 });
    page.requests();
    await expect(page.client.send.mutate()).rejects.toMatchObject({
      data: { code: "TOO_MANY_REQUESTS" },
    });
    await pass(10);
    expect(page.calls(STATUS)).toBe(1);
    const { retryAt } = page.observer.status(send, 1)!;
    expect(page.observer.status(send, 1)).toMatchObject({ ok: false });
    await pass(retryAt! - Date.now() - 1);
    expect(page.observer.status(send, 1)).toMatchObject({ ok: false });
    await pass(1);
    expect(page.observer.status(send, 1)).toMatchObject({ ok: true });
    expect(page.requests()).toEqual({ status: 0, watch: 0 });
  });

  it("asks when it is refreshed, as a page does on focus", async () => {
    await using page = await startPage({ live: "off" });
    page.requests();
    await page.limiter.limit("send", { count: 2 });
    await pass(MINUTE);
    expect(page.observer.remaining(send)).toBe(5);
    page.observer.refresh();
    await pass(10);
    expect(page.requests()).toEqual({ status: 1, watch: 0 });
    expect(page.observer.remaining(send)).toBe(3);
  });

  it("asks for a limit that is followed later, and for no other", async () => {
    await using page = await startPage({ live: "off" });
    page.requests();
    page.observer.observe({ name: "late" }, 1, () => {});
    await pass(10);
    expect(page.calls(STATUS)).toBe(1);
  });
});

it("says that it is offline when the server does not answer, without a stream or a poll", async () => {
  const observer = createRateLimitObserver({
    live: "off",
    clock: () => Date.now(),
    transport: {
      status: () => Promise.reject(new Error("no network")),
      watch: () => expect.fail("no stream was wanted"),
    },
  });
  observer.observe(send, 1, () => {});
  await pass(HOUR);
  expect(observer.connection).toBe("offline");
  observer.close();
});
