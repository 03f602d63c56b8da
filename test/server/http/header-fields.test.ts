/** The numbers in header fields, at the limits of their range. */
import { TRPCError } from "@trpc/server";
import { expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import { limitFields } from "../../../server/http/header-fields.js";
import {
  createRateLimiter,
  HOUR,
  memoryStore,
  MINUTE,
  type ShownConfig,
  RateLimitError,
  SECOND,
} from "../../../server/index.js";
import { noteDecisions, type NotedDecision } from "../../../server/trpc/decisions-of-call.js";
import { rateLimitResponseMeta } from "../../../server/trpc/response-headers.js";

const now = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 6, period: MINUTE } as const;

/** The header fields after these decisions of one call. */
function fieldsAfter(...noted: Omit<NotedDecision, "now">[]) {
  const getRawInput = async () => undefined;
  noteDecisions(
    getRawInput,
    noted.map((decision) => ({ ...decision, now })),
  );
  const { headers } = rateLimitResponseMeta({ info: { calls: [{ getRawInput }] }, errors: [] });
  return [headers?.get("RateLimit-Policy"), headers?.get("RateLimit")];
}

it("shows 0 tokens left while tokens are owed, and counts until the bucket is full", () => {
  expect(fieldsAfter({ name: "a", value: -2, config: bucket })).toEqual([
    '"a";q=6;w=60',
    '"a";r=0;t=80',
  ]);
});

it("counts until a bucket holds its capacity, not its rate", () => {
  const [, state] = fieldsAfter(
    { name: "small", value: 0.5, config: { ...bucket, capacity: 1.5 } },
    { name: "large", value: 10, config: { ...bucket, capacity: 12 } },
    { name: "full", value: 6, config: bucket },
  );
  expect(state).toBe('"small";r=0;t=10, "large";r=10;t=20, "full";r=6;t=0');
});

it("counts to the end of the window", () => {
  for (const start of [0, 1, MINUTE, HOUR - 1]) {
    const config = { kind: "fixed window", rate: 3, period: HOUR, start } as const;
    const end = start === 0 ? HOUR : start;
    expect(fieldsAfter({ name: "w", value: 2, config })[1]).toBe(
      `"w";r=2;t=${Math.ceil(end / SECOND)}`,
    );
  }
});

it("counts to the end of the day of a time zone, which may have 23 or 25 hours", () => {
  const clock = createManualClock(Date.parse("2030-03-31T12:00Z"));
  const daily = {
    kind: "fixed window",
    rate: 3,
    period: "day",
    timeZone: "Europe/Berlin",
  } as const;
  const limiter = createRateLimiter({ store: memoryStore(), clock, limits: { daily } });
  const fields = (config: ShownConfig) =>
    limitFields([{ name: "d", value: 2, config, now: clock() }]);
  expect(fields(limiter.configOf("daily"))).toEqual({
    "RateLimit-Policy": `"d";q=3;w=${(23 * HOUR) / SECOND}`,
    RateLimit: `"d";r=2;t=${(10 * HOUR) / SECOND}`,
  });
  // What another program has sent.
  for (const starts of [undefined, {}, 7, [], [clock() - HOUR], [clock(), null]]) {
    expect(fields({ ...daily, starts } as never)).toEqual({});
  }
});

it("limits numbers to the range of a structured field", () => {
  const config = { kind: "token bucket", rate: 1e18, period: 1 } as const;
  expect(fieldsAfter({ name: "a", value: 1e18, config })).toEqual([
    '"a";q=999999999999999;w=1',
    '"a";r=999999999999999;t=0',
  ]);
});

it("adds no fields if the headers are sent before any call is decided", () => {
  const facts = { name: "a", retryAfter: 1, value: 0, config: bucket, now };
  const cause = new RateLimitError({ kind: "RateLimited", ...facts });
  const errors = [new TRPCError({ code: "TOO_MANY_REQUESTS", cause })];
  const meta = rateLimitResponseMeta({ info: undefined, errors });
  expect(meta.headers?.get("Retry-After")).toBe("1");
  expect(rateLimitResponseMeta({ info: undefined, errors, eagerGeneration: true })).toEqual({});
});
