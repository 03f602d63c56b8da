import { describe, expect, it } from "vitest";
import {
  isRateLimitError,
  RateLimitConfigError,
  RateLimitError,
  type RateLimitErrorData,
  RateLimitInputError,
  RateLimitStoreError,
} from "../../core/errors.js";

const facts: RateLimitErrorData<"sends"> = {
  kind: "RateLimited",
  name: "sends",
  retryAfter: 1500,
  value: -0.5,
  config: { kind: "token bucket", rate: 10, period: 1000 },
  now: Date.UTC(2030, 0, 1),
};

describe("isRateLimitError", () => {
  const error = new RateLimitError(facts);
  const plain = { data: { rateLimit: facts } };

  it.each<[title: string, error: unknown]>([
    ["a RateLimitError", error],
    ["an error from another copy of the package", Object.assign(new Error("again"), plain)],
    ["its serialised form", JSON.parse(JSON.stringify(plain))],
    [
      "a serialised form with additional fields",
      { ...plain, message: "", data: { code: 429, ...plain.data } },
    ],
  ])("recognises %s", (_title, candidate) => {
    expect(isRateLimitError(candidate)).toBe(true);
  });

  it.each<[title: string, error: unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["a string", "RateLimited"],
    ["a number", 429],
    ["a function", () => plain],
    ["an empty object", {}],
    ["another error", new Error("Rate limit exceeded")],
    ["a config error", new RateLimitConfigError("rate", 0, "above 0")],
    ["an input error", new RateLimitInputError("count", "no")],
    ["a store error", new RateLimitStoreError("down")],
    ["the bare facts", facts],
    ["data that is null", { data: null }],
    ["data that is a string", { data: "RateLimited" }],
    ["no facts", { data: { rateLimit: undefined } }],
    ["facts of another kind", { data: { rateLimit: { ...facts, kind: "Else" } } }],
    ["facts without a name", { data: { rateLimit: { ...facts, name: undefined } } }],
    ["facts without a config", { data: { rateLimit: { ...facts, config: undefined } } }],
    ["facts with a config that is null", { data: { rateLimit: { ...facts, config: null } } }],
    ["facts without a time", { data: { rateLimit: { ...facts, now: undefined } } }],
    ["facts without a wait", { data: { rateLimit: { ...facts, retryAfter: "soon" } } }],
  ])("rejects %s", (_title, candidate) => {
    expect(isRateLimitError(candidate)).toBe(false);
  });

  it("narrows to the facts", () => {
    const caught: unknown = error;
    if (!isRateLimitError<"sends">(caught)) return expect.unreachable();
    const { name, retryAfter } = caught.data.rateLimit;
    expect([name, retryAfter]).toEqual(["sends", 1500]);
  });
});

describe("errors", () => {
  it.each([
    [new RateLimitError(facts), "RateLimitError", "RateLimited"],
    [new RateLimitConfigError("rate", 0, "above 0"), "RateLimitConfigError", "InvalidConfig"],
    [new RateLimitInputError("key", "no"), "RateLimitInputError", "InvalidInput"],
    [new RateLimitStoreError("down"), "RateLimitStoreError", "StoreFailure"],
  ])("%s have their own kind", (error, name, kind) => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, kind });
    expect(String(error)).toMatch(new RegExp(`^${name}: .`));
  });

  it("say which limit was exceeded and for how long", () => {
    expect(new RateLimitError(facts).message).toBe(
      'Rate limit "sends" exceeded. Try again in 2 seconds',
    );
  });

  it("carry the option and the value that were wrong", () => {
    const error = new RateLimitConfigError("limits.sends.rate", "x".repeat(1000), "a number");
    expect(error).toMatchObject({ option: "limits.sends.rate", value: "x".repeat(1000) });
    expect(error.message).toMatch(/^limits\.sends\.rate must be a number, got "x+…"$/);
    expect(error.message.length).toBeLessThan(100);
  });

  it("keep the store's own error as their cause", () => {
    const cause = new Error("connection refused");
    expect(new RateLimitStoreError("down", { cause }).cause).toBe(cause);
  });
});
