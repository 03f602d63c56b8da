/** The playground: what the page predicts is what the server decides, at any load. */
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { type Demo, startDemo } from "../support/demo.js";

const SIZES = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
];
const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
/** Differences of sums of doubles. */
const ROUNDING = 1e-6;

let browser: Browser;
let demo: Demo;
let visitor: BrowserContext;

beforeAll(async () => {
  [browser, demo] = await Promise.all([launchChromium(), startDemo()]);
});
afterEach(() => visitor.close());
afterAll(async () => {
  await browser.close();
  await demo[Symbol.asyncDispose]();
});

/** What the pages below note about themselves. */
interface Noted {
  /** The shifts of the layout, those after input included. */
  shifts: number[];
  /** How often the plot was drawn. */
  draws: number;
}

/** Opens the playground as a new visitor. */
async function open(viewport = SIZES[0]!) {
  visitor = await browser.newContext({ viewport });
  return openTab();
}

async function openTab() {
  const page = await visitor.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    // Chromium logs each 429 as an error. They are what the page is about.
    if (/\b(429|207)\b/.test(message.text())) return;
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.addInitScript(() => {
    const noted: Noted = { shifts: [], draws: 0 };
    new PerformanceObserver((list) => {
      for (const shift of list.getEntries())
        noted.shifts.push((shift as { value?: number }).value!);
    }).observe({ type: "layout-shift", buffered: true });
    const { prototype } = CanvasRenderingContext2D;
    // oxlint-disable-next-line typescript/unbound-method -- called with its object
    const { clearRect } = prototype;
    prototype.clearRect = function (...area) {
      noted.draws++;
      clearRect.apply(this, area);
    };
    Object.assign(window, { noted });
  });
  await page.goto(`${demo.url}/#playground`);
  await shows(page, "it is full");
  return Object.assign(page, { problems });
}

const shows = (page: Page, text: string | RegExp) => page.getByText(text).waitFor();
const call = (page: Page) => page.getByRole("button", { name: "Call" });
const notedBy = (page: Page) => page.evaluate(() => (window as unknown as { noted: Noted }).noted);
const shiftsOf = async (page: Page) => (await notedBy(page)).shifts;

/** The numbers that the page shows. */
async function numbersOf(page: Page): Promise<Record<string, number>> {
  const data = await page
    .locator(".numbers dd")
    .evaluateAll((all) => Object.assign({}, ...all.map((one) => (one as HTMLElement).dataset)));
  return Object.fromEntries(Object.entries(data as object).map(([k, v]) => [k, Number(v)]));
}

async function choose(page: Page, fields: Record<string, string>, kind = "token bucket") {
  await page.getByLabel("Kind").selectOption(kind);
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  await page.getByRole("button", { name: "Use this limit" }).click();
}

describe("the playground", () => {
  it.each(SIZES)(
    "predicts what the server decides while ten visitors call, at $width px",
    async (size) => {
      const page = await open(size);
      await choose(page, { "Rate, tokens": "120", "Capacity, tokens": "5" });
      await shows(page, "In force: token bucket, 120 per 60 s, at most 5.");
      await shows(page, "5.0 of 5 tokens: it is full");
      const startedAt = Date.now();
      await page.getByRole("button", { name: "Ten visitors" }).click();
      await expect
        .poll(async () => (await numbersOf(page)).denied, { timeout: 20_000 })
        .toBeGreaterThan(20);
      await page.getByRole("button", { name: /^Stop/ }).click();
      await expect.poll(async () => (await numbersOf(page)).waiting).toBe(0);
      const elapsed = Date.now() - startedAt;

      const { granted, tokens, lost, grants, deviation } = await numbersOf(page);
      expect(granted).toBeGreaterThan(5);
      expect(tokens).toBeLessThanOrEqual(5 + (elapsed * 120) / 60_000);
      expect(lost).toBe(0);
      // Every grant was predicted.
      expect(grants).toBe(granted);
      expect(deviation).toBeLessThan(ROUNDING);
      expect(await shiftsOf(page)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        size.width,
      );
      await page.addScriptTag({ path: AXE });
      const violations = await page.evaluate(async () => {
        const { axe: injected } = window as unknown as { axe: typeof axe };
        return (await injected.run()).violations.map(({ id }) => id);
      });
      expect(violations).toEqual([]);
      expect(page.problems).toEqual([]);
    },
  );

  it("redraws the plot 20 times a second at most, and not at all in a hidden tab", async () => {
    const page = await open();
    const drawsWithin = async (ms: number) => {
      const before = (await notedBy(page)).draws;
      await page.waitForTimeout(ms);
      return (await notedBy(page)).draws - before;
    };
    await page.getByRole("button", { name: "Ten visitors" }).click();
    const draws = await drawsWithin(2000);
    expect(draws).toBeGreaterThan(10);
    expect(draws).toBeLessThanOrEqual(41);
    const hide = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, value: isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    await page.waitForTimeout(100);
    const { denied } = await numbersOf(page);
    expect(await drawsWithin(1000)).toBe(0);
    // The visitors go on, and the plot catches up.
    expect((await numbersOf(page)).denied).toBeGreaterThan(denied!);
    await hide(false);
    expect(await drawsWithin(500)).toBeGreaterThan(2);
  });

  it("calls once for a click, and again and again while a key is held", async () => {
    const page = await open();
    await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(1);
    await call(page).focus();
    await page.keyboard.down("Space");
    await expect.poll(async () => (await numbersOf(page)).granted).toBeGreaterThan(4);
    await page.keyboard.up("Space");
    await expect.poll(async () => (await numbersOf(page)).waiting).toBe(0);
    const { granted } = await numbersOf(page);
    await page.keyboard.press("Enter");
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(granted! + 1);
    // What a screen reader hears.
    await expect
      .poll(() => page.locator("figcaption").textContent(), { timeout: 10_000 })
      .toContain(`Granted ${granted! + 1} calls, denied 0.`);
  });

  it("follows a change of kind, here and in another tab, and starts with a full bucket", async () => {
    const page = await open();
    const other = await openTab();
    for (let i = 0; i < 3; i++) await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(3);
    await choose(
      page,
      { "Rate, tokens": "1", "Period, s": "2", "Capacity, tokens": "6" },
      "fixed window",
    );
    for (const tab of [page, other]) {
      await shows(tab, "In force: fixed window, 1 per 2 s, at most 6.");
      await shows(tab, "6.0 of 6 tokens");
    }
    expect(await other.getByLabel("Kind").inputValue()).toBe("fixed window");
    expect((await numbersOf(page)).granted).toBe(0);
    await page.getByLabel("Tokens of a call").fill("6");
    await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(1);
    // The steps of the windows: one token each.
    await shows(page, "1.0 of 6 tokens; 1 comes with each window; the next starts in");
    await shows(page, "2.0 of 6 tokens; 1 comes with each window; the next starts in");
    expect((await numbersOf(page)).deviation).toBeLessThan(ROUNDING);
    expect(await shiftsOf(page)).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  it("goes below zero for reservations, and repays", async () => {
    const page = await open();
    await choose(page, { "Rate, tokens": "120", "Capacity, tokens": "4" });
    await shows(page, "4.0 of 4 tokens: it is full");
    await page.getByLabel("Tokens of a call").fill("3");
    await page.getByLabel("Reserve").check();
    await call(page).click();
    await call(page).click();
    await shows(page, /[1-2]\.\d tokens are owed; 2 come each second; repaid in \d\.\d s/);
    await shows(page, /[0-3]\.\d of 4 tokens; 2 come each second; full in/);
    const { granted, deviation } = await numbersOf(page);
    expect(granted).toBe(2);
    expect(deviation).toBeLessThan(ROUNDING);
  });

  it("says what is wrong with a call that no bucket holds, and with a server that is gone", async () => {
    const page = await open();
    await page.getByLabel("Tokens of a call").fill("50");
    await call(page).click();
    await page.getByRole("alert").filter({ hasText: "never holds so many" }).waitFor();
    await page.getByLabel("Tokens of a call").fill("1");
    const { databaseUrl, url } = demo;
    expect(await demo.interrupt()).toBe(0);
    await call(page).click();
    await page.getByRole("alert").filter({ hasText: "did not answer" }).waitFor();
    expect((await numbersOf(page)).lost).toBe(1);
    demo = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(1);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect((await numbersOf(page)).deviation).toBeLessThan(ROUNDING);
    expect(await shiftsOf(page)).toEqual([]);
  });
});
