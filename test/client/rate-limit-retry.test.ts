import { QueryClient } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink } from "@trpc/client";
import { TRPCError } from "@trpc/server";
import { describe, expect, it, vi } from "vitest";
import { isRateLimitError, rateLimitRetry, rateLimitRetryDelay } from "../../client/index.js";
import { DAY, HOUR } from "../../server/index.js";
import { startServer } from "../support/http.js";
import { createLimitedTRPC } from "../support/limited-trpc.js";

/** A server with limited queries, and a QueryClient with the package's defaults. */
async function startQueries(maxRetries?: number) {
  const { limiter, t, rl } = createLimitedTRPC({
    quick: { kind: "token bucket", rate: 1, period: 500 },
    hourly: { kind: "token bucket", rate: 1, period: HOUR },
  });
  const attempts: number[] = [];
  const noting = t.procedure.use(({ next }) => {
    attempts.push(performance.now());
    return next();
  });
  const router = t.router({
    quick: noting.use(rl.rateLimited("quick")).query(() => "served"),
    hourly: noting.use(rl.rateLimited("hourly")).query(() => "served"),
    broken: noting.query(() => {
      throw new TRPCError({ code: "CONFLICT" });
    }),
  });
  const server = await startServer(router, () => ({}));
  const client = createTRPCClient<typeof router>({ links: [httpBatchLink({ url: server.url })] });
  const queryClient = new QueryClient({
    defaultOptions: {
      queries: { retry: rateLimitRetry(maxRetries), retryDelay: rateLimitRetryDelay },
    },
  });
  return {
    attempts,
    limiter,
    fetch: (path: "quick" | "hourly" | "broken") =>
      queryClient.fetchQuery({ queryKey: [path], queryFn: () => client[path].query() }),
    async [Symbol.asyncDispose]() {
      queryClient.clear();
      await server[Symbol.asyncDispose]();
    },
  };
}

const denial = (retryAfter: number) => ({
  data: {
    rateLimit: {
      kind: "RateLimited",
      name: "quick",
      retryAfter,
      value: 0,
      config: { kind: "token bucket", rate: 1, period: 500 },
      now: 0,
    },
  },
});
const failure = (code: string) => ({ data: { code } });

describe.concurrent("a query of a QueryClient with these defaults", () => {
  it("is retried when it can pass, and not before", async () => {
    await using page = await startQueries(3);
    await page.limiter.limit("quick");
    expect(await page.fetch("quick")).toBe("served");
    expect(page.attempts).toHaveLength(2);
    expect(page.attempts[1]! - page.attempts[0]!).toBeGreaterThan(400);
  });

  it("fails at once when it is denied for longer than a person waits", async () => {
    await using page = await startQueries(3);
    await page.limiter.limit("hourly");
    await expect(page.fetch("hourly")).rejects.toSatisfy(isRateLimitError);
    expect(page.attempts).toHaveLength(1);
  });

  it("is retried as often as configured when it fails otherwise", async () => {
    await using page = await startQueries(1);
    await expect(page.fetch("broken")).rejects.toMatchObject({ data: { code: "CONFLICT" } });
    expect(page.attempts).toHaveLength(2);
    expect(page.attempts[1]! - page.attempts[0]!).toBeGreaterThan(990);
  });

  it("is not retried on a server by default", async () => {
    await using page = await startQueries();
    await expect(page.fetch("broken")).rejects.toThrow("CONFLICT");
    expect(page.attempts).toHaveLength(1);
  });
});

describe("rateLimitRetry", () => {
  it("counts like TanStack Query does", () => {
    const retry = rateLimitRetry(3);
    expect([0, 1, 2, 3].map((failures) => retry(failures, new Error("any")))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    expect(rateLimitRetry(0)(0, denial(10))).toBe(false);
  });

  it("waits for as long as it is allowed to", () => {
    expect(rateLimitRetry(3)(0, denial(60_000))).toBe(true);
    expect(rateLimitRetry(3)(0, denial(60_001))).toBe(false);
    expect(rateLimitRetry(3, HOUR)(0, denial(HOUR))).toBe(true);
  });
});

describe("rateLimitRetryDelay", () => {
  it("is never shorter than a denial's retryAfter, and varies", () => {
    const delays = Array.from({ length: 100 }, (_, i) => rateLimitRetryDelay(i, denial(5000)));
    expect(Math.min(...delays)).toBeGreaterThan(5000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(6001);
    expect(new Set(delays).size).toBeGreaterThan(50);
  });

  it("adds one ms, since timers may be early by a part of one", () => {
    const random = vi.spyOn(Math, "random").mockReturnValue(0);
    expect(rateLimitRetryDelay(0, denial(5000))).toBe(5001);
    random.mockRestore();
  });

  it("is at most what a timer can wait for, even if a denial lasts longer", () => {
    expect(rateLimitRetryDelay(0, denial(60 * DAY))).toBe(2e9);
  });

  it("doubles up to half a minute for other failures", () => {
    for (const error of [new Error("any"), failure("CONFLICT"), { data: null }, null, undefined]) {
      expect([0, 1, 4, 5, 50].map((failures) => rateLimitRetryDelay(failures, error))).toEqual([
        1000, 2000, 16_000, 30_000, 30_000,
      ]);
    }
  });

  it("spreads the retries after a store failure", () => {
    const delays = Array.from({ length: 100 }, () =>
      rateLimitRetryDelay(2, failure("SERVICE_UNAVAILABLE")),
    );
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(4000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(8000);
    expect(new Set(delays).size).toBeGreaterThan(50);
  });
});
