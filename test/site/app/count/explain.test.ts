/** What the page and the picture say of a run. The reasons of the presets are in presets.test.ts. */
import { expect, it } from "vitest";
import { explain, isExact, momentOf, verdictOf } from "../../../../site/app/count/explain.js";
import { runHere } from "../../../../site/app/count/run-here.js";

const allow = (body: string) => `async function allow(key, db) { ${body} }`;

it("names the process and the time of the eleventh", async () => {
  const run = await runHere(allow("return (await db.incr(key)) <= 12"), 3);
  expect(verdictOf(run)).toBe("12 of 10");
  const { at, process, text } = run.steps[run.eleventh!]!;
  expect(text).toBe("granted (11)");
  expect(momentOf(run)).toBe(
    `The eleventh got in after ${at.toFixed(1)} ms, by process ${process + 1}.`,
  );
});

it.each([
  ["counts to ten", allow("return (await db.incr(key)) <= 10"), "No eleventh got in.", true],
  ["counts to eight", allow("return (await db.incr(key)) <= 8"), "2 calls too few were granted."],
  [
    "counts to ten, and throws for the rest",
    allow("if ((await db.incr(key)) > 10) throw 1; return true"),
    "No eleventh got in, and some calls failed.",
  ],
  ["does not compile", "function (", "The run was stopped."],
])("says what there is instead for code that %s", async (_, code, moment, exact = false) => {
  const run = await runHere(code, 3);
  expect([momentOf(run), isExact(run)]).toEqual([moment, exact]);
  expect(explain(run)).toMatch(/[.!?]$/);
});
