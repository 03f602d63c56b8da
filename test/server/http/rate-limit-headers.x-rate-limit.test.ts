/** The header fields that clients have read for years, beside those of the IETF. */
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type RateLimitError,
  rateLimitHeaders,
  rateLimitResponse,
  SECOND,
} from "../../../server/index.js";
import { noteDecisions } from "../../../server/trpc/decisions-of-call.js";
import { rateLimitResponseMeta } from "../../../server/trpc/response-headers.js";

const limits = {
  bucket: { kind: "token bucket", rate: 6, period: MINUTE, capacity: 3 },
  closing: { kind: "token bucket", rate: 6, period: MINUTE, capacity: 1, blockFor: HOUR },
  hourly: { kind: "fixed window", rate: 10, period: HOUR, start: 0 },
  credits: { kind: "credits", capacity: 50 },
} as const;
type Name = keyof typeof limits;

function setUp() {
  const clock = createManualClock(Date.UTC(2030, 0, 1, 0, 20));
  const limiter = createRateLimiter({ store: memoryStore(), limits, clock });
  const errorOf = async (...names: Name[]) =>
    (await limiter
      .limitAll(
        names.map((name) => ({ name, key: "ada" })),
        { throws: true },
      )
      .catch((error: unknown) => error)) as RateLimitError;
  return { clock, limiter, errorOf };
}

/** The three fields: the limit, what remains, and when it resets. */
const fieldsOf = (headers: Headers | Record<string, string>) => {
  const all = new Headers(headers);
  return ["Limit", "Remaining", "Reset"].map((field) => all.get(`X-RateLimit-${field}`));
};

describe("xRateLimit", () => {
  it("is not there unless it is asked for", async () => {
    const { limiter } = setUp();
    const result = await limiter.limit("hourly", { key: "ada" });
    const headers = rateLimitHeaders(result, { limiter, name: "hourly", key: "ada" });
    expect(Object.keys(headers)).toEqual(["RateLimit-Policy", "RateLimit"]);
  });

  it.each([
    { name: "hourly", count: 3, seconds: ["10", "7", "2400"], epoch: 2400 },
    { name: "bucket", count: 1, seconds: ["3", "2", "10"], epoch: 10 },
    { name: "bucket", count: 0, seconds: ["3", "3", "0"], epoch: 0 },
    { name: "bucket", count: 0.25, seconds: ["3", "2", "3"], epoch: 3 },
  ] as const)(
    "counts to the end of the window, or to a full bucket ($name, $count)",
    async (each) => {
      const { limiter, clock } = setUp();
      const of = { limiter, name: each.name, key: "ada" };
      const result = await limiter.limit(each.name, { key: "ada", count: each.count });
      expect(fieldsOf(rateLimitHeaders(result, { ...of, xRateLimit: "seconds" }))).toEqual(
        each.seconds,
      );
      const [, , reset] = fieldsOf(rateLimitHeaders(result, { ...of, xRateLimit: "epoch" }));
      expect(Number(reset)).toBe(Math.ceil(clock() / SECOND) + each.epoch);
    },
  );

  it("rounds an instant up, so that no client comes too early", async () => {
    const { limiter, clock } = setUp();
    clock.advance(1);
    const result = await limiter.limit("bucket", { key: "ada" });
    const about = { limiter, name: "bucket", key: "ada", xRateLimit: "epoch" } as const;
    const [, , reset] = fieldsOf(rateLimitHeaders(result, about));
    expect(Number(reset) * SECOND).toBe(clock() - 1 + 11 * SECOND);
  });

  it("says in a denial what the limit is, and no instant before the wait is over", async () => {
    const { limiter, errorOf } = setUp();
    await limiter.limit("bucket", { key: "ada", count: 3 });
    await limiter.limit("closing", { key: "ada" });
    const seconds = { xRateLimit: "seconds" } as const;
    expect(fieldsOf(rateLimitHeaders(await errorOf("bucket"), seconds))).toEqual(["3", "0", "30"]);
    expect(fieldsOf(rateLimitHeaders(await errorOf("closing"), seconds))).toEqual([
      "1",
      "0",
      // It opens empty after an hour.
      "3610",
    ]);
    const response = rateLimitResponse(await errorOf("bucket"), seconds);
    expect(fieldsOf(response.headers)).toEqual(["3", "0", "30"]);
    expect(response.headers.get("Retry-After")).toBe("10");
    expect(response.headers.get("RateLimit")).toBe('"bucket";r=0;t=10');
  });

  it("is about the limit with the longest wait, of several that denied a call", async () => {
    const { limiter, errorOf } = setUp();
    await limiter.limit("bucket", { key: "ada", count: 3 });
    await limiter.limit("hourly", { key: "ada", count: 10 });
    const error = await errorOf("bucket", "hourly");
    expect(fieldsOf(rateLimitHeaders(error, { xRateLimit: "seconds" }))).toEqual([
      "10",
      "0",
      "2400",
    ]);
  });

  it("has no reset for credits, which no time brings back", async () => {
    const { limiter, errorOf } = setUp();
    await limiter.credit("credits", { key: "ada", count: 5 });
    const result = await limiter.limit("credits", { key: "ada", count: 5 });
    const about = { limiter, name: "credits", key: "ada", xRateLimit: "epoch" } as const;
    expect(fieldsOf(rateLimitHeaders(result, about))).toEqual(["50", "0", null]);
    const error = await errorOf("credits");
    expect(fieldsOf(rateLimitHeaders(error, { xRateLimit: "epoch" }))).toEqual(["50", "0", null]);
  });

  it("leaves out a limit whose numbers cannot be calculated with", () => {
    const config = { kind: "token bucket", rate: NaN, period: MINUTE } as const;
    const rateLimit = {
      kind: "RateLimited",
      name: "x",
      retryAfter: 5,
      value: 0,
      config,
      now: 0,
    } as const;
    const headers = rateLimitHeaders({ data: { rateLimit } }, { xRateLimit: "seconds" });
    expect(fieldsOf(headers)).toEqual([null, null, null]);
  });

  it("is added by rateLimitResponseMeta, for the strictest limit of a batch", () => {
    const now = Date.UTC(2030, 0, 1);
    const calls = [
      [{ name: "hourly", value: 4, now, config: limits.hourly }],
      [{ name: "bucket", value: 2, now, config: limits.bucket }],
    ].map((noted) => {
      const getRawInput = async () => undefined;
      noteDecisions(getRawInput, noted);
      return { getRawInput };
    });
    const { headers } = rateLimitResponseMeta(
      { info: { calls }, errors: [] },
      { xRateLimit: "seconds" },
    );
    expect(fieldsOf(headers!)).toEqual(["3", "2", "10"]);
  });

  it.each(["second", true, 1])("refuses %o", async (xRateLimit) => {
    const { limiter, errorOf } = setUp();
    await limiter.limit("closing", { key: "ada" });
    const error = await errorOf("closing");
    const options = { xRateLimit } as never;
    const message = 'xRateLimit must be "seconds" or "epoch"';
    expect(() => rateLimitHeaders(error, options)).toThrow(message);
    expect(() => rateLimitResponse(error, options)).toThrow(message);
    expect(() => rateLimitResponseMeta({ info: undefined, errors: [] }, options)).toThrow(message);
  });
});
