import { expect, it } from "vitest";
import type { StatusText } from "../../../client/devtools/describe-state.js";
import { summaryOf } from "../../../client/devtools/summary.js";

const ok = (count: number) => ({ count, state: "ok", text: "", wait: undefined }) as const;
const denied = (count: number, wait?: string) =>
  ({ count, state: "denied", text: "", wait }) as const;
const textOf = (...statuses: (StatusText & { count: number })[]) =>
  Object.values(summaryOf(statuses, "token", false)).join(": ");

it("is that of the smallest call", () => {
  expect(textOf(ok(1))).toBe("ok: ok");
  expect(textOf(ok(1), ok(5))).toBe("ok: ok");
  expect(textOf(denied(1, "7 s"), denied(5, "35 s"))).toBe("denied: denied (7 s)");
  expect(textOf(denied(1))).toBe("denied: denied");
});

it("names the first larger call that would be denied", () => {
  expect(textOf(ok(1), ok(2), denied(5, "7 s"), denied(9))).toBe("some: 5 tokens in 7 s");
  expect(textOf(ok(1), denied(9))).toBe("some: 9 tokens denied");
});

it("leaves out components that only show the tokens, unless there are no others", () => {
  expect(textOf(denied(0, "3 s"), denied(1, "7 s"))).toBe("denied: denied (7 s)");
  expect(textOf(ok(0), denied(1, "7 s"))).toBe("denied: denied (7 s)");
  expect(textOf(ok(0))).toBe("ok: ok");
});

it("is unknown until the server tells, and says where it does not", () => {
  const unknown = { count: 1, state: "unknown", text: "", wait: undefined } as const;
  expect(textOf(unknown)).toBe("unknown: unknown");
  expect(textOf()).toBe("unknown: unknown");
  expect(summaryOf([unknown], "token", true)).toEqual({ state: "denied", text: "not told" });
});
