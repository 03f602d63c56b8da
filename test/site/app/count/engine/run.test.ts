/** Runs of code that a visitor might write. */
import { describe, expect, it } from "vitest";
import { explain } from "../../../../../site/app/count/explain.js";
import { PRESETS } from "../../../../../site/app/count/presets.js";
import { runHere } from "../../../../../site/app/count/run-here.js";

const allowing = (body: string) => `async function allow(key, db) { ${body} }`;

it("is the same for the same code and seed, and another one for another seed", async () => {
  const [{ code }] = PRESETS;
  const run = await runHere(code, 7);
  expect(await runHere(code, 7)).toEqual(run);
  expect(await runHere(code, 8)).not.toEqual(run);
});

it("has chance, clocks and timers that come from the seed, too", async () => {
  const code = allowing(`
    await new Promise((resolve) => setTimeout(resolve, 10 * Math.random()));
    const at = performance.now();
    await db.set(key + Math.random(), [at, Date.now(), new Date().toISOString()]);
    return at > 20;
  `);
  const run = await runHere(code, 3);
  expect(await runHere(code, 3)).toEqual(run);
  expect(run.granted).toBeGreaterThan(0);
  expect(run.granted).toBeLessThan(50);
});

describe("the table", () => {
  it("forgets a key when it expires", async () => {
    const code = allowing(`
      if ((await db.incr(key)) === 1) await db.expire(key, 0.1);
      await new Promise((resolve) => setTimeout(resolve, 200));
      return (await db.get(key)) === null;
    `);
    expect((await runHere(code, 1)).granted).toBe(50);
  });

  it.each([
    [`return (await db.increment(key)) <= 10`, 10],
    [`return (await db.update(key, (n = 0) => n + 1)) <= 10`, 10],
    [
      `return db.transaction([key, "b"], ([n = 0, m = 0]) => ({ values: [n + 1, m], result: n < 10 }))`,
      10,
    ],
    [`const n = await db.get(key); await db.set(key, "x"); return n === "x" || n === null`, 50],
  ])("does %s", async (body, granted) => {
    const run = await runHere(allowing(body), 5);
    expect([run.granted, run.stopped, run.failure]).toEqual([granted, "", ""]);
  });

  it.each([
    [`await db.set(key, "many"); await db.incr(key)`, /no number/],
    [`await db.set(key, "x".repeat(2_000))`, /at most 1000 letters/],
    [`await db.set(key, undefined)`, /must be JSON/],
    [`await db.get({})`, /a key is a text/],
    [`await db.update(key, () => { throw new Error("no more") })`, /no more/],
    [`throw new Error("closed")`, /closed/],
  ])("fails the call of %s, and the page says why", async (body, why) => {
    const run = await runHere(allowing(body), 5);
    expect(run.answers.every(({ outcome }) => outcome === "failed")).toBe(true);
    expect(explain(run)).toMatch(why);
  });
});

describe("a run is stopped, and says why, where the code", () => {
  it.each([
    ["does not compile", "async function allow( {", /SyntaxError/],
    ["has no function", "const deny = 1;", /declares no function allow/],
    ["fails at once", "nothing()", /ReferenceError/],
    ["sends statements without end", allowing("for (;;) await db.get(key)"), /more than 2000/],
    ["ends its function to begin another one", "} function allow() { return true;", /SyntaxError/],
  ])("%s", async (_, code, why) => {
    const run = await runHere(code, 5);
    expect(run.granted).toBe(0);
    expect(explain(run)).toMatch(/^The run was stopped after 0 of 50 answers\. /);
    expect(explain(run)).toMatch(why);
  });
});

it("says that calls wait for nothing", async () => {
  const run = await runHere(allowing("await new Promise(() => {})"), 5);
  expect(explain(run)).toBe(
    "10 calls too few were granted. Some calls failed: Some calls wait for nothing, and never end.",
  );
});
