import { TRPCClientError } from "@trpc/client";
import { describe, expect, it } from "vitest";
import {
  type DenialMessage,
  isRateLimitError,
  rateLimitLink,
  type RateLimitLinkOptions,
} from "../../client/index.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startLimitServer } from "../support/limit-server.js";
import { soon } from "../support/soon.js";

const LIMITS = {
  hourly: { kind: "token bucket", rate: 1, period: HOUR, capacity: 3 },
  windowed: { kind: "fixed window", rate: 3, period: HOUR },
  /** A token every 300 ms. */
  quick: { kind: "token bucket", rate: 1, period: 500 },
  sharded: { kind: "token bucket", rate: 10, period: HOUR, shards: 10 },
} as const;
const [STATUS, TAKE] = ["rateLimit.status", "take"];

/** A server, and a client of it that sends through the link. */
async function startLinked(options?: RateLimitLinkOptions) {
  const app = await startLimitServer(LIMITS);
  const connect = () => app.server.connect({ links: [rateLimitLink(options)] });
  const client = connect();
  return {
    ...app,
    client,
    connect,
    take: (name: string, count = 1, signal?: AbortSignal) =>
      client.take.mutate({ name, count }, signal && { signal }),
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

async function denialOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isRateLimitError(error)) throw new Error("not denied", { cause: error });
  return error.data.rateLimit;
}

describe.concurrent("a denied call", () => {
  it.each(["hourly", "windowed"] as const)(
    "of %s is known to observers before its caller gets the error",
    async (name) => {
      await using page = await startLinked();
      const startedAt = Date.now();
      const observer = page.observe(page.client, { pollInterval: 60_000 });
      observer.observe({ name }, 1, () => {});
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(true));
      // From here on nothing reaches the observer from the server.
      const release = page.server.delay(STATUS);
      await page.limiter.limit(name, { count: 3 });
      const { retryAfter, now } = await denialOf(page.take(name));
      const status = observer.status({ name }, 1);
      expect(status?.ok).toBe(false);
      // The clocks of page and server are known to within the round trips that were made.
      const trips = Date.now() - startedAt;
      expect(Math.abs(status!.retryAt! - (now + retryAfter))).toBeLessThanOrEqual(trips + 2);
      // The observer asks for the whole state.
      await soon(() => expect(page.server.requests(STATUS)).toBeGreaterThan(1));
      release();
      await soon(() => expect(page.server.open(STATUS)).toBe(0));
      expect(observer.status({ name }, 1)?.ok).toBe(false);
    },
  );

  it("belongs to the key that the application declares, or to no limit", async () => {
    const keyed = { name: "hourly", key: "ann" };
    await using page = await startLinked({
      limits: ({ path, input }) => {
        if (path !== TAKE) return null;
        return (input as { count: number }).count === 3 ? keyed : null;
      },
    });
    const observer = page.observe(page.client, { pollInterval: 60_000 });
    for (const item of [keyed, { name: "hourly" }]) observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(observer.status(keyed, 1)?.ok).toBe(true));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status({ name: "hourly" }, 1)?.ok).toBe(false));
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
    const release = page.server.delay(STATUS);
    const asked = page.server.requests(STATUS);
    await denialOf(page.take("hourly"));
    expect(observer.status(keyed, 1)?.ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(page.server.requests(STATUS)).toBe(asked);
    await denialOf(page.take("hourly", 3));
    expect(observer.status(keyed, 3)?.ok).toBe(false);
    release();
    await soon(() => expect(observer.status(keyed, 3)?.ok).toBe(true));
  });

  it("is asked for once at a time, however many there are", async () => {
    await using page = await startLinked();
    const observer = page.observe(page.client, { pollInterval: 60_000 });
    observer.observe({ name: "hourly" }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
    await page.limiter.limit("hourly", { count: 3 });
    const [asked, release] = [page.server.requests(STATUS), page.server.delay(STATUS)];
    for (let i = 0; i < 10; i++) await denialOf(page.take("hourly"));
    expect(page.server.requests(STATUS)).toBe(asked + 1);
    release();
  });

  it("passes through unchanged, and so does everything else", async () => {
    await using page = await startLinked({ limits: { [TAKE]: "hourly" } });
    await page.limiter.limit("hourly", { count: 2 });
    expect(await page.take("hourly")).toMatchObject({ ok: true });
    for (let i = 0; i < 3; i++) {
      await expect(page.take("hourly")).rejects.toBeInstanceOf(TRPCClientError);
    }
    await expect(page.take("hourly", -1)).rejects.toMatchObject({ data: { code: "BAD_REQUEST" } });
    // All of them reached the server.
    expect(page.server.requests(TAKE)).toBe(5);
  });
});

describe.concurrent("whenLimited: reject", () => {
  it("rejects calls that are known to be denied, without a request", async () => {
    await using page = await startLinked({ whenLimited: "reject" });
    await page.limiter.limit("hourly", { count: 3 });
    const first = await denialOf(page.take("hourly"));
    const second = await denialOf(page.take("hourly"));
    expect(page.server.requests(TAKE)).toBe(1);
    expect(second).toMatchObject({ kind: "RateLimited", name: "hourly", config: LIMITS.hourly });
    const elapsed = second.now - first.now;
    expect(Math.abs(second.retryAfter + elapsed - first.retryAfter)).toBeLessThanOrEqual(2);
    expect(second.value).toBeCloseTo(0, 1);
    await expect(page.take("hourly")).rejects.toMatchObject({
      message: expect.stringMatching(
        /^Rate limit "hourly" exceeded\. Try again in (1 hour|59 minutes, \d\d? seconds?)$/,
      ) as string,
      data: { code: "TOO_MANY_REQUESTS", httpStatus: 429, path: TAKE },
    });
  });

  it("says it in the application's own words, and keeps the number in the data", async () => {
    const denialMessage: DenialMessage = ({ name }) => `Zu viel: ${name}`;
    await using page = await startLinked({ whenLimited: "reject", denialMessage });
    await page.limiter.limit("hourly", { count: 3 });
    await denialOf(page.take("hourly"));
    const { requests } = page.server;
    expect(requests(TAKE)).toBe(1);
    await expect(page.take("hourly")).rejects.toMatchObject({
      message: "Zu viel: hourly",
      data: { rateLimit: { name: "hourly", retryAfter: expect.any(Number) as number } },
    });
    expect(requests(TAKE)).toBe(1);
  });

  it("uses what an observer knows, for procedures whose limit is declared", async () => {
    await using page = await startLinked({ whenLimited: "reject", limits: { [TAKE]: "hourly" } });
    const observer = page.observe(page.client);
    observer.observe({ name: "hourly" }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status({ name: "hourly" }, 1)?.ok).toBe(false));
    await denialOf(page.take("hourly"));
    expect(page.server.requests(TAKE)).toBe(0);
    await page.limiter.reset("hourly");
    await soon(() => expect(observer.status({ name: "hourly" }, 1)?.ok).toBe(true));
    expect(await page.take("hourly")).toMatchObject({ ok: true });
  });

  it("sends again when the limit is available", async () => {
    await using page = await startLinked({ whenLimited: "reject" });
    await page.limiter.limit("quick");
    const { retryAfter } = await denialOf(page.take("quick"));
    await new Promise((resolve) => setTimeout(resolve, retryAfter + 20));
    await page.take("quick");
    expect(page.server.requests(TAKE)).toBe(2);
  });

  it("leaves a call that could never pass to the server", async () => {
    await using page = await startLinked({
      whenLimited: "reject",
      limits: { [TAKE]: { name: "hourly", count: 4 } },
    });
    const observer = page.observe(page.client);
    observer.observe({ name: "hourly" }, 4, () => {});
    await soon(() => expect(observer.status({ name: "hourly" }, 4)?.retryAt).toBe(Infinity));
    await expect(page.take("hourly", 4)).rejects.toMatchObject({
      data: { code: "PAYLOAD_TOO_LARGE" },
    });
  });
});

describe.concurrent("whenLimited: wait", () => {
  it("sends held calls one after the other as tokens become available, none of them denied", async () => {
    await using page = await startLinked({ whenLimited: "wait", jitter: 20 });
    await page.limiter.limit("quick");
    await denialOf(page.take("quick"));
    const order: number[] = [];
    const started = performance.now();
    await Promise.all([0, 1, 2, 3].map((i) => page.take("quick").then(() => order.push(i))));
    expect(order).toEqual([0, 1, 2, 3]);
    // The token of the first comes within 300 ms, those of the others 300 ms after each other.
    expect(performance.now() - started).toBeGreaterThan(900);
    expect(page.server.requests(TAKE)).toBe(5);
  });

  it("spreads the calls of many pages over its jitter", async () => {
    await using page = await startLinked({ whenLimited: "wait", jitter: 400 });
    await page.limiter.limit("quick");
    const arrivals = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const client = page.connect();
        // On a slow machine some of them pass, which spreads them, too.
        await client.take.mutate({ name: "quick" }).catch(() => {});
        await client.take.mutate({ name: "quick" }).catch(() => {});
        return performance.now();
      }),
    );
    expect(Math.max(...arrivals) - Math.min(...arrivals)).toBeGreaterThan(100);
  });

  it("fails an aborted call at once, without a request", async () => {
    await using page = await startLinked({ whenLimited: "wait" });
    await page.limiter.limit("hourly", { count: 3 });
    await denialOf(page.take("hourly"));
    const aborting = new AbortController();
    const held = page.take("hourly", 1, aborting.signal);
    const behind = page.take("hourly");
    setTimeout(() => aborting.abort(new Error("no longer wanted")), 20);
    await expect(held).rejects.toThrow("no longer wanted");
    expect(page.server.requests(TAKE)).toBe(1);
    // The call behind it moves up.
    const observer = page.observe(page.client);
    observer.observe({ name: "hourly" }, 1, () => {});
    await page.limiter.reset("hourly");
    expect(await behind).toMatchObject({ ok: true });
    expect(page.server.requests(TAKE)).toBe(2);
  });

  it("rejects a held call that cannot be sent", async () => {
    await using page = await startLinked();
    let isBroken = false;
    const client = page.server.connect({
      links: [
        rateLimitLink({ whenLimited: "wait", jitter: 0 }),
        () =>
          ({ op, next }) => {
            if (isBroken) throw new Error("no link for this");
            return next(op);
          },
      ],
    });
    const take = () => client.take.mutate({ name: "quick", count: 1 });
    await page.limiter.limit("quick");
    await denialOf(take());
    isBroken = true;
    await expect(take()).rejects.toThrow("no link for this");
  });

  it("asks for the state after a held call has failed", async () => {
    const item = { name: "hourly" };
    await using page = await startLinked({ whenLimited: "wait", limits: { [TAKE]: "hourly" } });
    const observer = page.observe(page.client, { pollInterval: 60_000 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.remaining(item)).toBe(0));
    // Rejected for its input, so that nothing is charged and the stream reports nothing.
    const failed = page.take("hourly", "many" as never);
    await page.limiter.reset("hourly");
    await expect(failed).rejects.toMatchObject({ data: { code: "BAD_REQUEST" } });
    await soon(() => expect(observer.remaining(item)).toBe(3));
  });

  it("rejects a call at once that would have to wait too long", async () => {
    await using page = await startLinked({ whenLimited: "wait", maxWait: 10 * SECOND });
    await page.limiter.limit("hourly", { count: 3 });
    await denialOf(page.take("hourly"));
    expect((await denialOf(page.take("hourly"))).retryAfter).toBeGreaterThan(HOUR - 10 * SECOND);
    expect(page.server.requests(TAKE)).toBe(1);
  });

  it("holds no call without a known denial, and no call of another limit", async () => {
    await using page = await startLinked({
      whenLimited: "wait",
      limits: ({ path, input }) =>
        path === TAKE ? { name: (input as { name: string }).name } : null,
    });
    await page.limiter.limit("hourly", { count: 3 });
    await denialOf(page.take("hourly"));
    const aborting = new AbortController();
    const held = page.take("hourly", 1, aborting.signal);
    expect(await page.take("windowed")).toMatchObject({ ok: true });
    aborting.abort();
    await expect(held).rejects.toBeInstanceOf(TRPCClientError);
  });
});
