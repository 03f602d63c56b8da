import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock } from "../../../core/testing.js";
import {
  type HeadersLike,
  rateLimitOfHeaders,
  type RateLimitOfHeadersOptions,
} from "../../../server/ai/index.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../../server/index.js";

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);

const OPENAI = {
  "x-ratelimit-limit-tokens": "150000",
  "x-ratelimit-remaining-requests": "59",
  "x-ratelimit-remaining-tokens": "149984",
  "x-ratelimit-reset-requests": "1s",
  "x-ratelimit-reset-tokens": "6m0s",
};
const ANTHROPIC = {
  date: "Fri, 02 Jan 2026 03:04:05 GMT",
  "anthropic-ratelimit-requests-remaining": "49",
  "anthropic-ratelimit-requests-reset": "2026-01-02T03:04:06Z",
  "anthropic-ratelimit-tokens-remaining": "0",
  "anthropic-ratelimit-tokens-reset": "2026-01-02T03:04:35Z",
};
const requests = { of: "requests" } as const;
const refused = { status: 429 } as const;

describe("the fields of a provider", () => {
  const cases: [string, HeadersLike, RateLimitOfHeadersOptions, object][] = [
    ["OpenAI, tokens", OPENAI, {}, { remaining: 149_984 }],
    ["OpenAI, requests", OPENAI, requests, { remaining: 59 }],
    ["Anthropic, tokens", ANTHROPIC, {}, { remaining: 0 }],
    ["Anthropic, requests", ANTHROPIC, requests, { remaining: 49 }],
    ["Headers", new Headers(OPENAI), {}, { remaining: 149_984 }],
    ["names in capitals", { "X-RateLimit-Remaining-Tokens": "12" }, {}, { remaining: 12 }],
    ["lists, as of Node", { "x-ratelimit-remaining-tokens": ["12", "9"] }, {}, { remaining: 12 }],
    [
      "two providers, as behind a gateway",
      { ...OPENAI, "anthropic-ratelimit-tokens-remaining": "700" },
      {},
      { remaining: 700 },
    ],
    ["none", {}, {}, { remaining: undefined }],
    [
      "the IETF's, which count requests",
      { ratelimit: '"default";r=50;t=30' },
      {},
      { remaining: undefined },
    ],
    ["the IETF's", { ratelimit: '"default";r=50;t=30' }, requests, { remaining: 50 }],
    [
      "the IETF's, two policies",
      { ratelimit: '"a";r=50;t=3, "b";r=9;t=30' },
      requests,
      { remaining: 9 },
    ],
    [
      "an older draft",
      { ratelimit: "limit=100, remaining=50, reset=30" },
      requests,
      { remaining: 50 },
    ],
    ["the oldest draft", { "ratelimit-remaining": "7" }, requests, { remaining: 7 }],
    ["no standard", { "x-ratelimit-remaining": "7" }, requests, { remaining: 7 }],
  ];
  it.each(cases)("%s", (_, headers, options, expected) => {
    expect(rateLimitOfHeaders(headers, options)).toEqual(expected);
  });
});

describe("a wait", () => {
  const cases: [string, HeadersLike, RateLimitOfHeadersOptions, number | undefined][] = [
    ["seconds", { "retry-after": "20" }, {}, 20_000],
    ["parts of a second", { "retry-after": "0.5" }, {}, 500],
    ["ms, which are more exact", { "retry-after": "1", "retry-after-ms": "640" }, {}, 640],
    ["a date", { "retry-after": "Fri, 02 Jan 2026 03:04:35 GMT" }, { now: NOW }, 30_000],
    ["beside tokens that remain", { ...OPENAI, "retry-after": "20" }, {}, 20_000],
    ["in an answer that was refused", { ...ANTHROPIC, "retry-after": "12" }, refused, 12_000],
    // By the provider's own date.
    ["of the reset, after a refusal", ANTHROPIC, refused, 30_000],
    [
      "of a reset as a duration, after a refusal",
      { "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s" },
      refused,
      90_000,
    ],
    ["of ms", { "x-ratelimit-reset-tokens": "6ms" }, refused, 6],
    ["of parts", { "x-ratelimit-reset-tokens": "2m59.56s" }, refused, 179_560],
    [
      "of an epoch",
      { "x-ratelimit-reset": `${NOW / 1000 + 8}` },
      { ...refused, ...requests, now: NOW },
      8000,
    ],
    [
      "of the IETF's",
      { ratelimit: '"a";r=0;t=3, "b";r=0;t=30' },
      { ...refused, ...requests },
      30_000,
    ],
    ["none, after a refusal without a word", {}, refused, undefined],
  ];
  it.each(cases)("%s", (_, headers, options, retryAfter) => {
    const expected = { remaining: 0, ...(retryAfter !== undefined && { retryAfter }) };
    expect(rateLimitOfHeaders(headers, options)).toEqual(expected);
  });

  it("is none where the answer was not refused, although nothing remains", () => {
    expect(rateLimitOfHeaders(ANTHROPIC)).toEqual({ remaining: 0 });
  });

  it("is none where a call was refused that was larger than what remains", () => {
    expect(rateLimitOfHeaders(OPENAI, refused)).toEqual({ remaining: 149_984 });
  });

  it.each(["0", "-1", "soon", "1e3", "NaN", "Infinity", "2678401", "on 5", "2026"])(
    "is none where it is %j",
    (text) => {
      const now = Date.UTC(2026, 0);
      const wait = rateLimitOfHeaders({ ...OPENAI, "retry-after": text }, { now }).retryAfter;
      expect(wait).toBe(text === "2026" ? 2_026_000 : undefined);
    },
  );
});

const FIELDS = [
  ...Object.keys({ ...OPENAI, ...ANTHROPIC }),
  "ratelimit",
  "ratelimit-reset",
  "retry-after",
  "retry-after-ms",
  "x-ratelimit-reset",
];
const anyText = fc.oneof(
  fc.string(),
  fc.double().map(String),
  fc.integer().map(String),
  fc.stringMatching(/^(\d{1,4}(\.\d)?(ms|s|m|h|d)?){1,4}$/),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.stringMatching(/^"[a-z]";[rt]=\d{1,400};[rt]=\d{1,3}$/),
  fc.constantFrom("9".repeat(400), "0".repeat(1e5), "1s".repeat(1e4), "", " "),
);
const anyHeaders = fc.dictionary(
  fc.constantFrom(...FIELDS),
  fc.oneof({ weight: 9, arbitrary: anyText }, { weight: 1, arbitrary: fc.anything() }),
);

describe("whatever the fields are", () => {
  it("what is read is a count and a wait that observe takes, or nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 20, arbitrary: anyHeaders }, { weight: 1, arbitrary: fc.anything() }),
        fc.constantFrom(undefined, 200, 429, 503),
        fc.constantFrom("tokens" as const, "requests" as const),
        async (headers, status, of) => {
          const said = rateLimitOfHeaders(headers as HeadersLike, { status, of });
          const { remaining, retryAfter = 0 } = said;
          if (remaining !== undefined) expect(remaining).toBeGreaterThanOrEqual(0);
          expect(Number.isInteger(retryAfter) && retryAfter >= 0).toBe(true);
          expect(retryAfter).toBeLessThanOrEqual(31 * DAY);
          const limiter = createRateLimiter({
            store: memoryStore(),
            limits: { provider: { kind: "token bucket", rate: 100, period: MINUTE } },
            clock: createManualClock(),
            logger: false,
          });
          const { observed } = await limiter.observe("provider", said);
          expect(observed).toBe(remaining !== undefined);
        },
      ),
      { numRuns: 1000 },
    );
  });
});
