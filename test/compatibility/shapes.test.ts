/** The check of shapes reports what would break an older reader, and lets the rest pass. */
import { describe, expect, it } from "vitest";
import { problemsOf, shapeOf } from "./shapes.js";

const written = {
  kind: "RateLimited",
  name: "send",
  retryAfter: 500,
  config: { kind: "fixed window", rate: 5, period: "month" },
  denials: [{ name: "send", value: 0 }],
};
const shape = shapeOf(written);
const check = (change: object) => problemsOf({ ...written, ...change }, shape);

describe("a document of today", () => {
  it("may have other values and more fields", () => {
    expect(check({ name: "other", retryAfter: 1, more: true })).toEqual([]);
    expect(check({ denials: [...written.denials, { name: "b", value: 1, more: 2 }] })).toEqual([]);
  });

  it.each<[what: string, change: object, problem: string]>([
    ["a field that is gone", { config: { kind: "fixed window" } }, "it.config.rate is missing"],
    ["another type", { retryAfter: "500" }, "it.retryAfter is string, and was number"],
    ["null for a number", { retryAfter: null }, "it.retryAfter is null, and was number"],
    ["another kind", { kind: "Denied" }, 'it.kind is ="Denied", and was ="RateLimited"'],
    ["an object for a list", { denials: {} }, "it.denials is no list"],
    ["a list for an object", { config: [] }, "it.config is no object"],
    ["fewer items", { denials: [] }, "it.denials[0] is missing"],
    ["an item without a field", { denials: [{ name: "a" }] }, "it.denials[0].value is missing"],
  ])("must not have %s", (_what, change, problem) => {
    expect(check(change)).toContain(problem);
  });

  it("must not have a field under another name", () => {
    const { retryAfter, ...rest } = written;
    expect(problemsOf({ ...rest, retry_after: retryAfter }, shape)).toEqual([
      "it.retryAfter is missing",
    ]);
  });
});
