/** The part of the demo in which this package runs beside a naive limiter. */
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { type Demo, startDemo } from "../support/demo.js";
import { byNight } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import { openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

let browser: Browser;
let demo: Demo;
beforeAll(async () => {
  [browser, demo] = await Promise.all([
    openBrowser(),
    // Each of these processes answers, and has two processes of its own for races.
    startDemo({ args: ["--processes", "2"] }),
  ]);
});
afterAll(async () => {
  await browser.close();
  await demo[Symbol.asyncDispose]();
});

async function openRace(width: number, colorScheme: "light" | "dark") {
  const visitor = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(`${demo.url}/#race`);
  await page.getByText(/^Every race really runs on SQLite, in the processes \d+ and \d+/).waitFor();
  return Object.assign(page, { problems, [Symbol.asyncDispose]: () => visitor.close() });
}

const racesLeft = (page: Page, count: number) =>
  page.getByText(`${count} of 5 races left`, { exact: true }).waitFor();

it.each(
  byNight([
    [390, "dark"],
    [1280, "light"],
  ] as const),
)("counts what each limiter grants, and says it in words, at %i px", async (width, colorScheme) => {
  await using page = await openRace(width, colorScheme);
  await racesLeft(page, 5);
  const run = page.getByRole("button", { name: "Make 50 calls" });
  await run.focus();
  await page.keyboard.press("Enter");
  const summary = page.getByRole("status").filter({ hasText: "This package granted" });
  // A token for the fifth race comes back after six seconds.
  await Promise.all([racesLeft(page, 4), summary.waitFor()]);
  const text = (await summary.textContent())!;
  const naive = Number(/The limit is 10\. The naive limiter granted (\d+) calls\./.exec(text)?.[1]);
  // The reads of one tick all come before its writes, so each process grants as many calls as it has read
  // tokens.
  expect(naive).toBeGreaterThanOrEqual(25);
  expect(text).toContain("This package granted 10.");

  const racer = (name: string) => page.getByRole("region", { name, exact: true });
  await racer("Read, compare, write")
    .getByText(`${naive - 10} too many`)
    .waitFor();
  await racer("Read, compare, write").getByText(`${naive} granted`, { exact: true }).waitFor();
  await racer("This package").getByText("exactly 10").waitFor();
  await racer("This package").getByText("limit 10", { exact: true }).waitFor();
  const dots = (name: string, outcome: string) =>
    racer(name).locator(`.dots [data-outcome=${outcome}]`).count();
  expect(await dots("Read, compare, write", "over")).toBe(naive - 10);
  expect(await dots("This package", "granted")).toBe(10);
  expect(await dots("This package", "denied")).toBe(40);
  const row = page.getByRole("row", { name: "1 in one tick" });
  expect(await row.getByRole("cell").allTextContents()).toEqual(["in one tick", `${naive}`, "10"]);
  // The button has kept the focus.
  expect(await run.evaluate((button) => button === document.activeElement)).toBe(true);

  await page.getByRole("button", { name: "Send 10 orders" }).click();
  await page
    .getByText(
      "The naive limiter took 10 tokens for 5 seats. This package took 5 tokens for 5 seats.",
    )
    .waitFor();
  await racer("Take, then write").getByText("5 tokens are lost").waitFor();
  await racer("limiter.transaction").getByText("they match").waitFor();
  await page.screenshot({ path: `${SCREENSHOTS}race-${width}.png`, fullPage: true });
  expect(await violationsOf(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
  expect(page.problems).toEqual([]);
});

it("counts down when a visitor has started five races, and lets another one race", async () => {
  await using page = await openRace(1280, "light");
  await racesLeft(page, 5);
  const start = () => page.request.post(`${demo.url}/trpc/race.order`, { data: {} });
  // The answers come in turn. This test needs none of them.
  void Promise.allSettled(Array.from({ length: 5 }, start));
  await page.getByRole("button", { name: "Wait" }).first().locator(COUNTDOWN).waitFor();
  await expect.poll(async () => (await start()).status()).toBe(429);
  await using other = await openRace(390, "light");
  await racesLeft(other, 5);
  // The button opens by itself.
  await page.getByRole("button", { name: "Make 50 calls" }).waitFor();
  expect([...page.problems, ...other.problems]).toEqual([]);
});
