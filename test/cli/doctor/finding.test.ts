import { describe, expect, it } from "vitest";
import { messageOf } from "../../../cli/doctor/finding.js";

const refused = new Error("connect ECONNREFUSED");

describe("the message of an error", () => {
  it.each([
    ["is its first line", new Error("denied\n  at line 1"), "denied"],
    ["is that of the first address", new AggregateError([refused, new Error("other")]), refused],
    [
      "is its cause if fetch has failed",
      new TypeError("fetch failed", { cause: refused }),
      refused,
    ],
    [
      "is its cause if the pool of mariadb has no connection",
      new Error("(no: 45028) pool failed to retrieve a connection from pool", { cause: refused }),
      refused,
    ],
    ["is its own, whatever else the cause says", new Error("a", { cause: refused }), "a"],
  ])("%s", (_, error, expected) => {
    expect(messageOf(error)).toBe(expected instanceof Error ? expected.message : expected);
  });
});
