/** Denials with names and numbers that no limiter makes, such as in an error of another program. */
import { TRPCError, type TRPCDefaultErrorShape } from "@trpc/server";
import { describe, expect, it } from "vitest";
import {
  MINUTE,
  RateLimitError,
  type RateLimitErrorData,
  rateLimitHeaders,
  rateLimitResponse,
} from "../../../server/index.js";
import { formatRateLimitError, rateLimitResponseMeta } from "../../../server/trpc/index.js";

const config = { kind: "token bucket", rate: 1, period: MINUTE } as const;
const facts: RateLimitErrorData = {
  kind: "RateLimited",
  name: "send",
  retryAfter: 1500,
  value: 0,
  config,
  now: 1e12,
};
/** The serialised form of a denial, which `isRateLimitError` takes for one. */
const errorOf = (more: object) => ({ data: { rateLimit: { ...facts, ...more } } });

/** The response to a denial, and the header fields without one. They have to agree. */
async function answerTo(error: { data: { rateLimit: RateLimitErrorData } }) {
  const response = rateLimitResponse<object>(error);
  const fields = rateLimitHeaders(error);
  for (const [name, value] of Object.entries(fields)) {
    expect(response.headers.get(name)).toBe(value);
    // What a structured field may hold.
    expect(value).toMatch(/^[ -~]*$/);
    expect(value).not.toMatch(/NaN|Infinity|e\+/);
    expect(value.length).toBeLessThan(3000);
  }
  const cause = new RateLimitError(error.data.rateLimit);
  const meta = rateLimitResponseMeta({
    info: undefined,
    errors: [new TRPCError({ code: "TOO_MANY_REQUESTS", cause })],
  });
  expect(Object.fromEntries(meta.headers ?? [])).toEqual(
    Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value])),
  );
  const text = await response.text();
  return { status: response.status, fields, text, body: JSON.parse(text) as RateLimitErrorData };
}

describe("rateLimitResponse and rateLimitHeaders", () => {
  it.each([
    ["\ud800", '"%EF%BF%BD"'],
    ["a\udfffb", '"a%EF%BF%BDb"'],
    ["\udc00\ud800", '"%EF%BF%BD%EF%BF%BD"'],
    ["😀", '"%F0%9F%98%80"'],
    ["a\r\nSet-Cookie: x=1", '"a%0D%0ASet-Cookie: x=1"'],
    ["a\0b", '"a%00b"'],
    ['"\\', '"\\"\\\\"'],
    ["", '""'],
    ["__proto__", '"__proto__"'],
  ])("write the name %j as text that a header field may have", async (name, quoted) => {
    const { status, fields, body } = await answerTo(errorOf({ name }));
    expect([status, body.name]).toEqual([429, name]);
    expect(fields).toEqual({
      "Retry-After": "2",
      "RateLimit-Policy": `${quoted};q=1;w=60`,
      RateLimit: `${quoted};r=0;t=2`,
    });
  });

  it("send a bounded part of 200,000 denials, and the longest wait first", async () => {
    const denials = Array.from({ length: 200_000 }, (_, i) => {
      return { name: `limit ${i}`, retryAfter: 1, value: 0, config };
    });
    const { fields, text, body } = await answerTo(errorOf({ denials }));
    expect(fields["Retry-After"]).toBe("2");
    expect(fields["RateLimit"]).toMatch(/^"send";r=0;t=2, "limit 0";r=0;t=1, /);
    expect(body).toMatchObject(facts);
    expect(body.denials).toEqual(denials.slice(0, 100));
    expect(text.length).toBeLessThan(20_000);
  });

  it("list as many limits as fit, each in both fields", async () => {
    const names = Array.from({ length: 50 }, (_, i) => `${i}`.padEnd(191, "é"));
    const denials = names.map((name) => ({ name, retryAfter: 1, value: 0, config }));
    const { fields } = await answerTo(errorOf({ denials }));
    const listed = (field: string) =>
      fields[field]!.split(", ").map((entry) => entry.replace(/;.*$/, ""));
    expect(listed("RateLimit")).toEqual(listed("RateLimit-Policy"));
    expect(listed("RateLimit")[0]).toBe('"send"');
    expect(listed("RateLimit").length).toBeGreaterThan(1);
  });

  it.each([
    ["a name of a million characters", { name: "n".repeat(1e6) }],
    ["a config with a million options", { config: { ...config, more: Array(1e6).fill(0) } }],
    ["a cycle", { config: Object.assign({ ...config }, { self: facts, list: [] as unknown[] }) }],
    ["a BigInt", { value: 10n }],
    ["a period that is a BigInt", { config: { ...config, period: 10n } }],
    ["a period that is a symbol", { config: { ...config, period: Symbol("period") } }],
    ["no period", { config: { rate: 1 } }],
    ["a rate that is not a number", { config: { ...config, rate: NaN } }],
    ["a rate of Infinity", { config: { ...config, rate: Infinity } }],
    ["a time that is no date", { now: 1e300, config: { ...config, kind: "fixed window" } }],
    ["months at a time that is no date", { now: NaN, config: { rate: 1, period: "month" } }],
    ["a value that is missing", { value: undefined }],
    ["denials that are no list", { denials: { length: 1e9 } }],
    ["denials without a name", { denials: [{ config }, { name: 7n, config }, null] }],
  ])("answer 429 within bounds for %s", async (_what, more) => {
    const error = errorOf(more);
    const { config: odd } = error.data.rateLimit as { config: { list?: unknown[] } };
    odd.list?.push(odd);
    const { status, fields, text, body } = await answerTo(error as never);
    expect([status, body.kind, body.retryAfter]).toEqual([429, "RateLimited", 1500]);
    expect(fields["Retry-After"]).toBe("2");
    expect(text.length).toBeLessThan(110_000);
  });

  it.each([
    [Infinity, undefined],
    [NaN, undefined],
    [-5, undefined],
    [7e15, "7000000000000"],
    // No wait helps.
    [8e15, undefined],
    [1e300, undefined],
  ])("write a wait of %d ms as seconds, or not at all", async (retryAfter, seconds) => {
    const { fields } = await answerTo(errorOf({ retryAfter }));
    expect(fields["Retry-After"]).toBe(seconds);
  });
});

describe("formatRateLimitError", () => {
  const shape = { message: "m", code: -32603, data: { code: "x", httpStatus: 500, path: "p" } };
  const format = (data: RateLimitErrorData) => {
    const cause = new RateLimitError(data);
    const error = new TRPCError({ code: "CONFLICT", cause });
    return formatRateLimitError(shape as unknown as TRPCDefaultErrorShape, error);
  };

  it("sends a bounded part of 200,000 denials, and names no more of them", () => {
    const denials = Array.from({ length: 200_000 }, (_, i) => {
      return { name: `limit ${i}`, retryAfter: 1, value: 0, config };
    });
    const { message, data } = format({ ...facts, denials });
    expect(data.rateLimit).toEqual({ ...facts, denials: denials.slice(0, 100) });
    expect(message).toContain('"send", "limit 0", ');
    expect(message).not.toContain("limit 100");
  });

  it.each(["\ud800", "a\r\nb", "__proto__", ""])("sends the name %j as it is", (name) => {
    const sent = JSON.parse(JSON.stringify(format({ ...facts, name }))) as typeof shape;
    expect(sent.data).toMatchObject({ httpStatus: 429, rateLimit: { ...facts, name } });
  });
});
