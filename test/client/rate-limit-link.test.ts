import { TRPCClientError } from "@trpc/client";
import { describe, expect, it } from "vitest";
import { isRateLimitError, rateLimitLink, type RateLimitLinkOptions } from "../../client/index.js";
import { HOUR, SECOND } from "../../server/index.js";
import { startMirror } from "../support/mirror.js";
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
  const mirror = await startMirror(LIMITS);
  const connect = () => mirror.server.connect({ links: [rateLimitLink(options)] });
  const client = connect();
  return {
    ...mirror,
    client,
    connect,
    take: (name: string, count = 1, signal?: AbortSignal) =>
      client.take.mutate({ name, count }, signal && { signal }),
    [Symbol.asyncDispose]: () => mirror[Symbol.asyncDispose](),
  };
}

async function refusalOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isRateLimitError(error)) throw new Error("not refused", { cause: error });
  return error.data.rateLimit;
}

describe.concurrent("a refused call", () => {
  it.each(["hourly", "windowed"] as const)(
    "of %s is known to observers before its caller hears of it",
    async (name) => {
      await using page = await startLinked();
      const observer = page.observe(page.client, { pollInterval: 60_000 });
      observer.observe({ name }, 1, () => {});
      await soon(() => expect(observer.status({ name }, 1)?.ok).toBe(true));
      // Nothing of what follows reaches the observer by itself.
      const release = page.server.delay(STATUS);
      await page.limiter.limit(name, { count: 3 });
      const { retryAfter, now } = await refusalOf(page.take(name));
      const status = observer.status({ name }, 1);
      expect(status?.ok).toBe(false);
      expect(Math.abs(status!.retryAt! - (now + retryAfter))).toBeLessThan(200);
      // The truth is asked for.
      await soon(() => expect(page.server.requests(STATUS)).toBeGreaterThan(1));
      release();
      await soon(() => expect(page.server.open(STATUS)).toBe(0));
      expect(observer.status({ name }, 1)?.ok).toBe(false);
    },
  );

  it("is of the key that the application says, or of nothing", async () => {
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
    await refusalOf(page.take("hourly"));
    expect(observer.status(keyed, 1)?.ok).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(page.server.requests(STATUS)).toBe(asked);
    await refusalOf(page.take("hourly", 3));
    expect(observer.status(keyed, 3)?.ok).toBe(false);
    release();
    await soon(() => expect(observer.status(keyed, 3)?.ok).toBe(true));
  });

  it("is asked about once at a time, however many there are", async () => {
    await using page = await startLinked();
    const observer = page.observe(page.client, { pollInterval: 60_000 });
    observer.observe({ name: "hourly" }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await soon(() => expect(page.server.open(STATUS)).toBe(0));
    await page.limiter.limit("hourly", { count: 3 });
    const [asked, release] = [page.server.requests(STATUS), page.server.delay(STATUS)];
    for (let i = 0; i < 10; i++) await refusalOf(page.take("hourly"));
    expect(page.server.requests(STATUS)).toBe(asked + 1);
    release();
  });

  it("passes through as it came, and so does everything else", async () => {
    await using page = await startLinked({ limits: { [TAKE]: "hourly" } });
    await page.limiter.limit("hourly", { count: 2 });
    expect(await page.take("hourly")).toMatchObject({ ok: true });
    for (let i = 0; i < 3; i++) {
      await expect(page.take("hourly")).rejects.toBeInstanceOf(TRPCClientError);
    }
    await expect(page.take("hourly", -1)).rejects.toMatchObject({ data: { code: "BAD_REQUEST" } });
    // None of them was kept from the server.
    expect(page.server.requests(TAKE)).toBe(5);
  });
});

describe.concurrent("whenRefused: fail", () => {
  it("fails calls that are known to be refused, without a request", async () => {
    await using page = await startLinked({ whenRefused: "fail" });
    await page.limiter.limit("hourly", { count: 3 });
    const first = await refusalOf(page.take("hourly"));
    const second = await refusalOf(page.take("hourly"));
    expect(page.server.requests(TAKE)).toBe(1);
    expect(second).toMatchObject({ kind: "RateLimited", name: "hourly", config: LIMITS.hourly });
    const elapsed = second.now - first.now;
    expect(Math.abs(second.retryAfter + elapsed - first.retryAfter)).toBeLessThanOrEqual(2);
    expect(second.value).toBeCloseTo(0, 1);
    await expect(page.take("hourly")).rejects.toMatchObject({
      message: expect.stringContaining('Rate limit "hourly" exceeded') as string,
      data: { code: "TOO_MANY_REQUESTS", httpStatus: 429, path: TAKE },
    });
  });

  it("goes by what an observer sees, for procedures whose limit is given", async () => {
    await using page = await startLinked({ whenRefused: "fail", limits: { [TAKE]: "hourly" } });
    const observer = page.observe(page.client);
    observer.observe({ name: "hourly" }, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.status({ name: "hourly" }, 1)?.ok).toBe(false));
    await refusalOf(page.take("hourly"));
    expect(page.server.requests(TAKE)).toBe(0);
    await page.limiter.reset("hourly");
    await soon(() => expect(observer.status({ name: "hourly" }, 1)?.ok).toBe(true));
    expect(await page.take("hourly")).toMatchObject({ ok: true });
  });

  it("sends again when the limit opens", async () => {
    await using page = await startLinked({ whenRefused: "fail" });
    await page.limiter.limit("quick");
    const { retryAfter } = await refusalOf(page.take("quick"));
    await new Promise((resolve) => setTimeout(resolve, retryAfter + 20));
    await page.take("quick");
    expect(page.server.requests(TAKE)).toBe(2);
  });

  it("leaves it to the server to say never", async () => {
    await using page = await startLinked({
      whenRefused: "fail",
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

describe.concurrent("whenRefused: wait", () => {
  it("sends held calls one after the other as the limit opens, none of them refused", async () => {
    await using page = await startLinked({ whenRefused: "wait", jitter: 20 });
    await page.limiter.limit("quick");
    await refusalOf(page.take("quick"));
    const order: number[] = [];
    const started = performance.now();
    await Promise.all([0, 1, 2, 3].map((i) => page.take("quick").then(() => order.push(i))));
    expect(order).toEqual([0, 1, 2, 3]);
    // The token of the first comes within 300 ms, those of the others 300 ms after each other.
    expect(performance.now() - started).toBeGreaterThan(900);
    expect(page.server.requests(TAKE)).toBe(5);
  });

  it("spreads the calls of many pages over its jitter", async () => {
    await using page = await startLinked({ whenRefused: "wait", jitter: 400 });
    await page.limiter.limit("quick");
    const arrivals = await Promise.all(
      Array.from({ length: 16 }, async () => {
        const client = page.connect();
        // On a slow machine one or the other passes, which spreads them, too.
        await client.take.mutate({ name: "quick" }).catch(() => {});
        await client.take.mutate({ name: "quick" }).catch(() => {});
        return performance.now();
      }),
    );
    expect(Math.max(...arrivals) - Math.min(...arrivals)).toBeGreaterThan(100);
  });

  it("lets a call go that is aborted, at once and without a request", async () => {
    await using page = await startLinked({ whenRefused: "wait" });
    await page.limiter.limit("hourly", { count: 3 });
    await refusalOf(page.take("hourly"));
    const aborting = new AbortController();
    const held = page.take("hourly", 1, aborting.signal);
    const behind = page.take("hourly");
    setTimeout(() => aborting.abort(new Error("no longer wanted")), 20);
    await expect(held).rejects.toThrow("no longer wanted");
    expect(page.server.requests(TAKE)).toBe(1);
    // The one behind it moves up.
    const observer = page.observe(page.client);
    observer.observe({ name: "hourly" }, 1, () => {});
    await page.limiter.reset("hourly");
    expect(await behind).toMatchObject({ ok: true });
    expect(page.server.requests(TAKE)).toBe(2);
  });

  it("tells the caller when a held call cannot even be sent", async () => {
    await using page = await startLinked();
    let isBroken = false;
    const client = page.server.connect({
      links: [
        rateLimitLink({ whenRefused: "wait", jitter: 0 }),
        () =>
          ({ op, next }) => {
            if (isBroken) throw new Error("no link for this");
            return next(op);
          },
      ],
    });
    const take = () => client.take.mutate({ name: "quick", count: 1 });
    await page.limiter.limit("quick");
    await refusalOf(take());
    isBroken = true;
    await expect(take()).rejects.toThrow("no link for this");
  });

  it("asks what a held call took that has failed", async () => {
    const item = { name: "hourly" };
    await using page = await startLinked({ whenRefused: "wait", limits: { [TAKE]: "hourly" } });
    const observer = page.observe(page.client, { pollInterval: 60_000 });
    observer.observe(item, 1, () => {});
    await soon(() => expect(observer.connection).toBe("live"));
    await page.limiter.limit("hourly", { count: 3 });
    await soon(() => expect(observer.left(item)).toBe(0));
    // Refused for its input once it goes, so that nothing is charged and no news come of it.
    const failed = page.take("hourly", "many" as never);
    await page.limiter.reset("hourly");
    await expect(failed).rejects.toMatchObject({ data: { code: "BAD_REQUEST" } });
    await soon(() => expect(observer.left(item)).toBe(3));
  });

  it("fails a call at once that would have to wait too long", async () => {
    await using page = await startLinked({ whenRefused: "wait", maxWait: 10 * SECOND });
    await page.limiter.limit("hourly", { count: 3 });
    await refusalOf(page.take("hourly"));
    expect((await refusalOf(page.take("hourly"))).retryAfter).toBeGreaterThan(HOUR - 10 * SECOND);
    expect(page.server.requests(TAKE)).toBe(1);
  });

  it("holds no call that is not known to be refused, nor one of another limit", async () => {
    await using page = await startLinked({
      whenRefused: "wait",
      limits: ({ path, input }) =>
        path === TAKE ? { name: (input as { name: string }).name } : null,
    });
    await page.limiter.limit("hourly", { count: 3 });
    await refusalOf(page.take("hourly"));
    const aborting = new AbortController();
    const held = page.take("hourly", 1, aborting.signal);
    expect(await page.take("windowed")).toMatchObject({ ok: true });
    aborting.abort();
    await expect(held).rejects.toBeInstanceOf(TRPCClientError);
  });
});
