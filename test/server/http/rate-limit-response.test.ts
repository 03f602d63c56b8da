import { TRPCError } from "@trpc/server";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  RateLimitConfigError,
  RateLimitError,
  type RateLimitErrorData,
  rateLimitHeaders,
  RateLimitInputError,
  rateLimitResponse,
  RateLimitStoreError,
} from "../../../server/index.js";
import { createLimitedTRPC } from "../../support/limited-trpc.js";

const limits = {
  send: { kind: "token bucket", rate: 1, period: MINUTE },
  quota: { kind: "fixed window", rate: 1, period: HOUR },
} as const;

const clock = createManualClock();
const createLimiter = () => createRateLimiter({ store: memoryStore(), limits, clock });

/** A denial, as an error. */
async function denial(options: { key?: string; count?: number } = {}): Promise<unknown> {
  const limiter = createLimiter();
  await limiter.limit("quota", options);
  return limiter.limit("quota", { ...options, throws: true }).catch((error: unknown) => error);
}

describe("rateLimitResponse", () => {
  it("says the same of a result as of the error", async () => {
    const error = (await denial({ key: "ada" })) as RateLimitError;
    const limiter = createLimiter();
    await limiter.limit("quota", { key: "ada" });
    const result = await limiter.limit("quota", { key: "ada" });
    const [ofError, ofResult] = await Promise.all(
      [
        rateLimitResponse(error),
        rateLimitResponse(result, { limiter, name: "quota", key: "ada" }),
      ].map(async (response) => ({
        status: response.status,
        headers: [...response.headers],
        body: (await response.json()) as unknown,
      })),
    );
    expect(ofResult).toEqual(ofError);
    expect(ofError).toMatchObject({ status: 429, body: error.data.rateLimit });
  });

  it("lists every limit that denied a call on several", async () => {
    const limiter = createLimiter();
    await limiter.limit("send");
    await limiter.limit("quota", { config: { ...limits.quota, start: 0 } });
    const items = [{ name: "send" }, { name: "quota" }] as const;
    const error: unknown = await limiter
      .limitAll(items, { throws: true })
      .catch((thrown) => thrown);
    const response = rateLimitResponse(error);
    const longest = response.headers.get("Retry-After");
    expect(Number(longest)).toBeGreaterThan(60);
    expect(response.headers.get("RateLimit-Policy")).toBe('"quota";q=1;w=3600, "send";q=1;w=60');
    expect(response.headers.get("RateLimit")).toBe(`"quota";r=0;t=${longest}, "send";r=0;t=60`);
    expect(new Headers(rateLimitHeaders(error as RateLimitError)).get("RateLimit")).toBe(
      response.headers.get("RateLimit"),
    );
    expect(await response.json()).toEqual((error as RateLimitError).data.rateLimit);
  });

  it("leaves out what another server has listed in a form that it does not know", () => {
    const facts = { name: "send", retryAfter: 1000, value: 0, config: limits.send, now: 0 };
    const entries = [null, 5, "quota", {}, { name: 5, config: limits.quota }, { name: "quota" }];
    for (const denials of [...entries, entries]) {
      const data = { rateLimit: { kind: "RateLimited", ...facts, denials } };
      const headers = rateLimitHeaders({ data } as unknown as RateLimitError);
      expect(headers).toMatchObject({ "Retry-After": "1", RateLimit: '"send";r=0;t=1' });
    }
  });

  it("reports the config of the call, and a name that has no other", async () => {
    const limiter = createLimiter();
    const config = { kind: "token bucket", rate: 5, period: HOUR, capacity: 1 } as const;
    await limiter.limit("oneOff", { config });
    const result = await limiter.limit("oneOff", { config });
    const response = rateLimitResponse(result, { limiter, name: "oneOff", config });
    expect(response.headers.get("RateLimit-Policy")).toBe('"oneOff";q=5;w=3600');
    expect(await response.json()).toMatchObject({
      name: "oneOff",
      config,
      retryAfter: 12 * MINUTE,
    });
  });

  it("rounds the wait up to whole seconds", async () => {
    const facts = {
      kind: "RateLimited",
      name: "send",
      value: 0,
      config: limits.send,
      now: 0,
    } as const;
    const waits = [1, 1000, 1001].map((retryAfter) =>
      rateLimitResponse(new RateLimitError({ ...facts, retryAfter })).headers.get("Retry-After"),
    );
    expect(waits).toEqual(["1", "1", "2"]);
  });

  it("keeps other header fields, and does not let them contradict", async () => {
    const response = rateLimitResponse(await denial(), {
      headers: [
        ["Access-Control-Allow-Origin", "*"],
        ["Set-Cookie", "a=1"],
        ["Set-Cookie", "b=2"],
        ["Retry-After", "1"],
      ],
    });
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(response.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    expect(Number(response.headers.get("Retry-After"))).toBeGreaterThan(1);
  });

  it("knows the errors of tRPC's middleware", async () => {
    const { t, rl, limiter } = createLimitedTRPC(limits, { clock });
    const router = t.router({
      send: t.procedure.use(rl.rateLimited("send")).mutation(() => true),
      large: t.procedure.use(rl.rateLimited("send", { count: 2 })).mutation(() => true),
    });
    const caller = router.createCaller({});
    await caller.send();
    const answer = async (call: Promise<boolean>) =>
      rateLimitResponse(await call.catch((error: unknown) => error));
    const response = await answer(caller.send());
    expect(response.status).toBe(429);
    expect(await response.json()).toMatchObject({ name: "send", retryAfter: MINUTE });
    const large = await answer(caller.large());
    expect(large.status).toBe(413);
    expect((await limiter.check("send")).ok).toBe(false);
  });

  it("answers 400 or 413 for a key or a count from a client that cannot be", async () => {
    const limiter = createLimiter();
    const answer = async (options: { key?: string; count?: number }) => {
      const error: unknown = await limiter
        .limit("send", options)
        .catch((thrown: unknown) => thrown);
      const response = rateLimitResponse(error);
      return [response.status, await response.json()];
    };
    expect(await answer({ key: "k".repeat(192) })).toEqual([
      400,
      { kind: "InvalidInput", reason: "key" },
    ]);
    expect(await answer({ count: -1 })).toEqual([400, { kind: "InvalidInput", reason: "count" }]);
    expect(await answer({ count: 2 })).toEqual([
      413,
      { kind: "InvalidInput", reason: "unsatisfiable" },
    ]);
  });

  it("answers 503 for a failure of the store, through tRPC as well", async () => {
    const failure = new RateLimitStoreError("secret", { cause: new Error("more secret") });
    const wrapped = new TRPCError({ code: "SERVICE_UNAVAILABLE", cause: failure });
    for (const error of [failure, wrapped]) {
      const response = rateLimitResponse(error);
      expect([response.status, await response.text()]).toEqual([503, '{"kind":"StoreFailure"}']);
    }
  });

  it.each([
    new Error("a bug"),
    new Error("wraps", { cause: new RateLimitStoreError("down") }),
    new TRPCError({ code: "NOT_FOUND" }),
    new RateLimitConfigError("rate", 0, "above 0"),
    new RateLimitInputError("name", "unknown"),
    new Response(null, { status: 404 }),
    { kind: "RateLimited" },
    "text",
    undefined,
    null,
  ])("throws anything else again: %s", (error) => {
    let thrown: unknown = "nothing";
    try {
      rateLimitResponse<unknown>(error);
    } catch (caught) {
      thrown = caught;
    }
    expect(thrown).toBe(error);
  });

  it("refuses results that it cannot explain", async () => {
    const limiter = createLimiter();
    const limit = { limiter, name: "send" } as const;
    const granted = await limiter.limit("send");
    expect(() => rateLimitResponse(granted, limit)).toThrow(
      "needs a denied result, got a granted one",
    );
    const denied = await limiter.limit("send");
    expect(() => rateLimitResponse(denied, {} as never)).toThrow(
      "pass { limiter, name } along with it",
    );
    const misspelt = { limiter, name: "toString" } as never;
    expect(() => rateLimitResponse(denied, misspelt)).toThrow('unknown rate limit "toString"');
    const all = await limiter.limitAll([{ name: "send" }]);
    expect(() => rateLimitResponse(all as never, limit)).toThrow("call it with { throws: true }");
  });
});

describe("rateLimitHeaders", () => {
  it("counts to the end of the window of the key", async () => {
    const limiter = createLimiter();
    const resets = ["ada", "bob"].map(async (key) => {
      const result = await limiter.limit("quota", { key });
      const headers = rateLimitHeaders(result, { limiter, name: "quota", key });
      const denied = await limiter.limit("quota", { key });
      expect(headers["RateLimit"]).toBe(`"quota";r=0;t=${Math.ceil(denied.retryAfter! / 1000)}`);
      return headers["RateLimit"];
    });
    expect(new Set(await Promise.all(resets)).size).toBe(2);
  });

  it("does not ask a call that has reserved its tokens to come again", async () => {
    const limiter = createLimiter();
    await limiter.limit("send");
    const result = await limiter.limit("send", { reserve: true });
    expect(result).toMatchObject({ ok: true, retryAfter: MINUTE });
    const headers = rateLimitHeaders(result, { limiter, name: "send" });
    expect(Object.keys(headers)).toEqual(["RateLimit-Policy", "RateLimit"]);
  });

  it("takes the error of a denial, and nothing else without its limit", async () => {
    const error = (await denial()) as { data: { rateLimit: RateLimitErrorData } };
    expect(rateLimitHeaders(error)).toEqual(
      Object.fromEntries(
        ["Retry-After", "RateLimit-Policy", "RateLimit"].map((name) => [
          name,
          rateLimitResponse(error).headers.get(name),
        ]),
      ),
    );
    expect(() => rateLimitHeaders(new Error("a bug") as never)).toThrow(RateLimitInputError);
  });
});
