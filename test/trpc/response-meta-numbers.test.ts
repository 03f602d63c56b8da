/** The figures in header fields, at the edges of what they can say. */
import { TRPCError } from "@trpc/server";
import { expect, it } from "vitest";
import { initialState } from "../../core/calculate.js";
import { withStart } from "../../core/phase.js";
import { HOUR, MINUTE, RateLimitError, SECOND } from "../../server/index.js";
import { noteDecisions, type NotedDecision } from "../../server/trpc/decisions-of-call.js";
import { rateLimitResponseMeta } from "../../server/trpc/response-meta.js";

const now = Date.UTC(2030, 0, 1);
const bucket = { kind: "token bucket", rate: 6, period: MINUTE } as const;

/** What the header says after these decisions of one call. */
function said(...noted: Omit<NotedDecision, "now">[]) {
  const getRawInput = async () => undefined;
  noteDecisions(
    getRawInput,
    noted.map((decision) => ({ ...decision, now })),
  );
  const { headers } = rateLimitResponseMeta({ info: { calls: [{ getRawInput }] }, errors: [] });
  return [headers?.get("RateLimit-Policy"), headers?.get("RateLimit")];
}

it("says that nothing is left where tokens are owed, and counts until they are back", () => {
  expect(said({ name: "a", value: -2, config: bucket })).toEqual(['"a";q=6;w=60', '"a";r=0;t=80']);
});

it("counts until a bucket holds its capacity, which is not its rate", () => {
  const [, state] = said(
    { name: "small", value: 0.5, config: { ...bucket, capacity: 1.5 } },
    { name: "large", value: 10, config: { ...bucket, capacity: 12 } },
    { name: "full", value: 6, config: bucket },
  );
  expect(state).toBe('"small";r=0;t=10, "large";r=10;t=20, "full";r=6;t=0');
});

it("counts to the end of the window that this very key has", () => {
  const config = { kind: "fixed window", rate: 3, period: HOUR } as const;
  const endOf = (key: string | undefined) =>
    Math.ceil((initialState(withStart(config, "w", key), now).ts + HOUR - now) / SECOND);
  expect(new Set(["ada", "bob", undefined].map(endOf)).size).toBe(3);
  for (const key of ["ada", "bob", undefined]) {
    expect(said({ name: "w", key, value: 2, config })[1]).toBe(`"w";r=2;t=${endOf(key)}`);
  }
});

it("holds figures to what a structured field can say", () => {
  const config = { kind: "token bucket", rate: 1e18, period: 1 } as const;
  expect(said({ name: "a", value: 1e18, config })).toEqual([
    '"a";q=999999999999999;w=1',
    '"a";r=999999999999999;t=0',
  ]);
});

it("says nothing where headers are made before anything has been decided", () => {
  const facts = { name: "a", retryAfter: 1, value: 0, config: bucket, now };
  const cause = new RateLimitError({ kind: "RateLimited", ...facts });
  const errors = [new TRPCError({ code: "TOO_MANY_REQUESTS", cause })];
  const told = rateLimitResponseMeta({ info: undefined, errors });
  expect(told.headers?.get("Retry-After")).toBe("1");
  expect(rateLimitResponseMeta({ info: undefined, errors, eagerGeneration: true })).toEqual({});
});
