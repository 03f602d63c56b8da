import { expect, it } from "vitest";
import {
  type FoundError,
  isOnNewLine,
  newErrors,
  suspects,
} from "../../../../cli/init/check/new-errors.js";

const error = (more: Partial<FoundError> = {}): FoundError => ({
  config: "tsconfig.json",
  file: "a.ts",
  line: 1,
  code: "TS2322",
  message: "Type 'A' is not assignable to type 'B'.",
  detail: "",
  ...more,
});

it("errors that are only elsewhere in their file are old ones", () => {
  expect(newErrors([error()], [error({ line: 7 })])).toEqual([]);
});

it("of two errors that are alike, one may be new", () => {
  expect(newErrors([error()], [error(), error({ line: 2 })])).toEqual([error({ line: 2 })]);
});

it("an error with another message is new only if no old one is gone", () => {
  const changed = error({ message: "Type 'A' is not assignable to type 'C'." });
  expect(newErrors([error()], [changed])).toEqual([]);
  expect(newErrors([error()], [error(), changed])).toEqual([changed]);
  for (const each of [{ file: "b.ts" }, { code: "TS1" }, { config: "b.json" }]) {
    expect(newErrors([error()], [error(each)])).toEqual([error(each)]);
  }
});

it("an edit knows the lines that it has written", () => {
  const change = {
    file: "a.ts",
    before: "one\ntwo\nthree\n",
    after: "one\nnew\nmore\nthree\nend\n",
  };
  const lines = [1, 2, 3, 4, 5].filter((line) => isOnNewLine(change, line));
  expect(lines).toEqual([2, 3, 5]);
  expect(isOnNewLine({ file: "a.ts", before: undefined, after: "one\n" }, 1)).toBe(true);
});

it("the likely edits come first: of the file itself, and of names in the error", () => {
  const changes = ["c.ts", "b.ts", "a.ts"].map((file) => ({
    file,
    before: "address",
    after: file === "b.ts" ? "address; address" : "addresses",
  }));
  const order = suspects(error(), "const made = { address: 1 };", changes);
  expect(order.map(({ file }) => file)).toEqual(["a.ts", "b.ts", "c.ts"]);
});
