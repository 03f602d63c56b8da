/** The playground: what the page predicts is what the server decides, at any load. */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { startDemo } from "../support/demo.js";
import { byNight } from "../support/nightly.js";
import { followPartLink } from "../support/show-part.js";
import { demo, openBrowser } from "./shared.js";

const SIZES = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
/** A link to a limit other than the first one. */
const WINDOW = "#playground?kind=fixed-window&rate=5&period=10s&capacity=5";
/** The rounding errors of sums of doubles. */
const ROUNDING = 1e-6;

let browser: Browser;
let visitor: BrowserContext;
const visitors: BrowserContext[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(() => Promise.all(visitors.splice(0).map((each) => each.close())));
afterAll(() => browser.close());

/** The records that the pages below make about themselves. */
interface Noted {
  /** The shifts of the layout, including those after input. */
  shifts: number[];
  /** How often the plot was drawn. */
  draws: number;
  /** The greatest deviation that was ever shown. */
  deviation: number;
}

/** Opens the playground as a new visitor. */
async function open(viewport = SIZES[0]!, hash = "#playground", script = () => {}, { url } = demo) {
  visitor = await browser.newContext({ viewport });
  visitors.push(visitor);
  await visitor.addInitScript(script);
  return openTab(hash, url);
}

async function openTab(hash = "#playground", url = demo.url) {
  const page = await visitor.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    // Chromium logs each 429 as an error. The page is about these denials.
    if (/\b(429|207)\b/.test(message.text())) return;
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.addInitScript(() => {
    const noted: Noted = { shifts: [], draws: 0, deviation: 0 };
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
    new MutationObserver(() => {
      const { dataset } = document.querySelector<HTMLElement>("[data-deviation]") ?? {};
      noted.deviation = Math.max(noted.deviation, Number(dataset?.["deviation"] ?? 0));
    }).observe(document, { subtree: true, attributeFilter: ["data-deviation"] });
    Object.assign(window, { noted });
  });
  await page.goto(`${url}/${hash}`);
  await shows(page, "it is full");
  return Object.assign(page, { problems });
}

const shows = (page: Page, text: string | RegExp) => page.getByText(text).waitFor();
const call = (page: Page) => page.getByRole("button", { name: "Call" });
/** The records of the page until `at`, ms. */
const notedBy = (page: Page) =>
  page.evaluate(() => {
    const { noted } = window as unknown as { noted: Noted };
    return { ...noted, at: performance.now() };
  });
const preset = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const shiftsOf = async (page: Page) => (await notedBy(page)).shifts;

/** The numbers that the page shows. */
async function numbersOf(page: Page): Promise<Record<string, number>> {
  const data = await page
    .locator(".bench [data-granted], .bench dd, .measured b")
    .evaluateAll((all) => Object.assign({}, ...all.map((one) => (one as HTMLElement).dataset)));
  return Object.fromEntries(Object.entries(data as object).map(([k, v]) => [k, Number(v)]));
}

async function choose(page: Page, fields: Record<string, string>, kind = "token bucket") {
  await page.getByLabel("Kind").selectOption(kind);
  for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
  await page.getByRole("button", { name: "Fill the bucket" }).click();
}

describe("the playground", () => {
  it.each(byNight(SIZES))(
    "predicts what the server decides while ten visitors call, at $width px",
    async (size) => {
      const page = await open(size);
      await choose(page, { "Rate, tokens": "120", "Capacity, tokens": "5" });
      await shows(page, "In force: token bucket, 120 per 60 s, at most 5.");
      await shows(page, "5.0 of 5 tokens: it is full");
      await page.evaluate(() => window.scrollTo(0, 0));
      const startedAt = Date.now();
      await page.getByRole("button", { name: "Ten visitors" }).click();
      await expect
        .poll(async () => (await numbersOf(page)).denied, { timeout: 20_000 })
        .toBeGreaterThan(10);
      // The buttons and their effects fit on one screen.
      expect(await page.evaluate(() => window.scrollY)).toBe(0);
      const isOnScreen = async (part: string) => {
        const { x, y, width, height } = (await page.locator(part).boundingBox())!;
        return x >= 0 && y >= 0 && x + width <= size.width && y + height <= size.height;
      };
      for (const part of [".presets", ".hold", ".measured dl", ".plot"]) {
        expect([part, await isOnScreen(part)]).toEqual([part, true]);
      }
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
      expect(await violationsOf(page)).toEqual([]);
      expect(page.problems).toEqual([]);
    },
  );

  it("redraws the plot 20 times a second at most, and not at all in a hidden tab", async () => {
    const page = await open();
    /** How often the plot was drawn within that time, and how long that time really was, ms. */
    const drawsWithin = async (ms: number) => {
      const before = await notedBy(page);
      await page.waitForTimeout(ms);
      const now = await notedBy(page);
      return { draws: now.draws - before.draws, ms: now.at - before.at };
    };
    await page.getByRole("button", { name: "Ten visitors" }).click();
    await expect.poll(async () => (await notedBy(page)).draws).toBeGreaterThan(10);
    const { draws, ms: passed } = await drawsWithin(2000);
    expect(draws).toBeGreaterThan(0);
    expect(draws).toBeLessThanOrEqual(passed / 50 + 1);
    const hide = (hidden: boolean) =>
      page.evaluate((isHidden) => {
        Object.defineProperty(document, "hidden", { configurable: true, value: isHidden });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    await hide(true);
    await page.waitForTimeout(100);
    const { denied } = await numbersOf(page);
    expect((await drawsWithin(1000)).draws).toBe(0);
    // The visitors go on calling, and the plot catches up.
    await expect.poll(async () => (await numbersOf(page)).denied).toBeGreaterThan(denied!);
    const drawn = (await notedBy(page)).draws;
    await hide(false);
    await expect.poll(async () => (await notedBy(page)).draws).toBeGreaterThan(drawn + 2);
  });

  it("calls once for a click, and again and again while a key is held", async () => {
    const page = await open();
    // So many tokens that a slow machine is not denied.
    await choose(page, { "Capacity, tokens": "1000" });
    await shows(page, "1,000.0 of 1,000 tokens: it is full");
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
    // The text that a screen reader hears.
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
    // The steps of the windows: one token for each window.
    await shows(page, "1.0 of 6 tokens; 1 comes with each window; the next starts in");
    await shows(page, "2.0 of 6 tokens; 1 comes with each window; the next starts in");
    expect((await numbersOf(page)).deviation).toBeLessThan(ROUNDING);
    expect(await shiftsOf(page)).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  it("goes below zero for reservations, and repays", async () => {
    const page = await open();
    await choose(page, { "Rate, tokens": "30", "Capacity, tokens": "4" });
    await shows(page, "4.0 of 4 tokens: it is full");
    await page.getByLabel("Tokens of a call").fill("3");
    await page.getByLabel("Reserve", { exact: true }).check();
    // Both at once, because the debt of the second is repaid in 4 s.
    await call(page).evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await shows(page, /[0-2]\.\d tokens are owed; 0.5 come each second; repaid in \d\.\d s/);
    await shows(page, /[0-3]\.\d of 4 tokens; 0.5 come each second; full in/);
    const { granted, deviation } = await numbersOf(page);
    expect(granted).toBe(2);
    expect(deviation).toBeLessThan(ROUNDING);
  });

  it("says what is wrong with a call that no bucket holds, and with a server that is gone", async () => {
    await using own = await startDemo();
    const page = await open(SIZES[0], "#playground", () => {}, own);
    await page.getByLabel("Tokens of a call").fill("50");
    await call(page).click();
    await page.getByRole("alert").filter({ hasText: "never holds so many" }).waitFor();
    await page.getByLabel("Tokens of a call").fill("1");
    const { databaseUrl, url } = own;
    expect(await own.interrupt()).toBe(0);
    await call(page).click();
    await page.getByRole("alert").filter({ hasText: "did not answer" }).waitFor();
    await expect.poll(async () => (await numbersOf(page)).lost).toBe(1);
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(1);
    await page.getByRole("alert").waitFor({ state: "detached" });
    expect((await numbersOf(page)).deviation).toBeLessThan(ROUNDING);
    expect(await shiftsOf(page)).toEqual([]);
  });

  it("measures its prediction, and shows when it was off", async () => {
    const page = await open(SIZES[0], "#playground", falsifyAnswers);
    // The rate is so slow that no token comes during the test.
    await choose(page, { "Rate, tokens": "0.1", "Period, s": "600" });
    await shows(page, "In force: token bucket, 0.1 per 600 s, at most 10.");
    const headline = page.locator(".measured");
    const reads = (text: string | RegExp) => headline.filter({ hasText: text }).waitFor();
    await call(page).click();
    await reads("last: page 9.000 server 9.0000.000at most, of 1 grants0.000");
    await call(page).click();
    await reads("last: page 8.000 server 8.2500.250at most, of 2 grants0.250");
    await reads("The server knew something");
    await call(page).click();
    await reads(/last: page 7\.\d{3} server 7\.000/);
    expect((await numbersOf(page)).deviation).toBeCloseTo(0.25);
  });

  it("is never off in what it shows while answers are slow and overtake each other", async () => {
    const page = await open(SIZES[1], "#playground", delayAnswers);
    await call(page).focus();
    await page.keyboard.down("Space");
    await expect
      .poll(async () => (await numbersOf(page)).denied, { timeout: 10_000 })
      .toBeGreaterThan(2);
    await page.keyboard.up("Space");
    await expect.poll(async () => (await numbersOf(page)).waiting).toBe(0);
    const { granted, grants } = await numbersOf(page);
    expect(grants).toBe(granted);
    const { deviation, shifts } = await notedBy(page);
    expect(deviation).toBeLessThan(ROUNDING);
    expect(shifts).toEqual([]);
  });

  it("shows grants on the line, and denials as ticks below it", async () => {
    const page = await open();
    const pixels = (colour: string) => page.evaluate(countPixels, colour);
    expect([await pixels("var(--granted)"), await pixels("var(--denied)")]).toEqual([0, 0]);
    await preset(page, "Window").click();
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    await page.getByLabel("Tokens of a call").fill("5");
    await call(page).click();
    await expect.poll(() => pixels("var(--granted)")).toBeGreaterThan(10);
    expect(await pixels("var(--denied)")).toBe(0);
    // The next window may start meanwhile, and grant one more call.
    await expect
      .poll(async () => {
        await call(page).click();
        return (await numbersOf(page)).denied;
      })
      .toBeGreaterThan(0);
    await expect.poll(() => pixels("var(--denied)")).toBeGreaterThan(10);
    // With the few colours of the system, the marks can still be told apart.
    await page.emulateMedia({ forcedColors: "active" });
    await expect.poll(() => pixels("LinkText")).toBeGreaterThan(10);
  });

  it.each(["light", "dark"] as const)(
    "shades the time in which it is closed, in %s",
    async (scheme) => {
      const page = await open();
      await page.emulateMedia({ colorScheme: scheme });
      const word = page.locator(".legend").getByText("closed", { exact: true });
      const shaded = () => page.evaluate(countPixels, "var(--closed)");
      await preset(page, "Window").click();
      await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
      expect([await word.isVisible(), await shaded()]).toEqual([false, 0]);
      await preset(page, "Lock-out").click();
      await word.waitFor();
      for (let i = 0; i < 4; i++) await call(page).click();
      await shows(page, /^Closed for \d\.\d s more\./);
      await expect.poll(shaded).toBeGreaterThan(1000);
    },
  );

  it("sets a limit by one press, and says what to try", async () => {
    const page = await open();
    const advice = page.locator(".advice .stable > :first-child");
    for (const [name, inForce] of [
      ["Window", "fixed window, 5 per 10 s, at most 5."],
      ["Reserve", "token bucket, 30 per 60 s, at most 4."],
      ["Month", "fixed window, 100 per calendar month, at most 100."],
      ["Burst", "token bucket, 30 per 60 s, at most 10."],
      ["Lock-out", "token bucket, 6 per 60 s, at most 3, closed for 10 s after a denial."],
    ] as const) {
      const before = await advice.textContent();
      await preset(page, name).click();
      await shows(page, `In force: ${inForce}`);
      await page.locator("button[aria-pressed=true]").filter({ hasText: name }).waitFor();
      expect(await advice.textContent()).not.toBe(before);
      expect(await page.getByLabel("Reserve", { exact: true }).isChecked()).toBe(
        name === "Reserve",
      );
    }
    for (let i = 0; i < 4; i++) await call(page).click();
    await shows(page, /^Closed for \d\.\d s more\./);
    await page
      .locator(".hold[data-denied=true]")
      .filter({ hasText: /^Call: in \d+s/ })
      .waitFor();
    await page.getByLabel("Tokens of a call").fill("2");
    await advice.filter({ hasText: "Your own numbers" }).waitFor();
    expect(await shiftsOf(page)).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  it("starts each preset with a full bucket, also while calls by the one before are under way", async () => {
    const page = await open(SIZES[0], "#playground", delayAnswers);
    await preset(page, "Reserve").click();
    await shows(page, "In force: token bucket, 30 per 60 s, at most 4.");
    await page.getByRole("button", { name: "Ten visitors" }).click();
    await expect.poll(async () => (await numbersOf(page)).waiting).toBeGreaterThan(1);
    await preset(page, "Lock-out").click();
    await shows(page, "In force: token bucket, 6 per 60 s, at most 3, closed for 10 s");
    await shows(page, "3.0 of 3 tokens: it is full.");
    // The visitors have left, and their calls take nothing from this bucket.
    await page.getByRole("button", { name: "Ten visitors" }).waitFor();
    await page.waitForTimeout(2000);
    expect(await numbersOf(page)).toMatchObject({ granted: 0, denied: 0, waiting: 0 });
    await shows(page, "3.0 of 3 tokens: it is full.");
    expect(page.problems).toEqual([]);
  });

  it("obeys a slider at once, sends its last value only, and keeps what was used", async () => {
    const page = await open();
    // The slider and its effect fit on one screen.
    const slider = page.getByRole("slider", { name: "Slide the capacity" });
    const { y, height } = (await slider.boundingBox())!;
    expect(y + height).toBeLessThan(SIZES[0]!.height);
    for (let i = 0; i < 6; i++) await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(6);
    let choices = 0;
    page.on(
      "request",
      (request) => void (request.url().includes("playground.choose") && choices++),
    );
    await slider.focus();
    // From 10 to 15, 20, 30 and 50.
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
    expect(await page.getByLabel("Capacity, tokens").inputValue()).toBe("50");
    await shows(page, "In force: token bucket, 30 per 60 s, at most 50.");
    await shows(page, /^4[4-8]\.\d of 50 tokens; 0.5 come each second/);
    expect(choices).toBe(1);
    // The form does not change a text while the visitor types it.
    await page.getByLabel("Rate, tokens").pressSequentially("0", { delay: 500 });
    await shows(page, "In force: token bucket, 300 per 60 s, at most 50.");
    expect(await page.evaluate(() => location.hash)).toContain("rate=300&");
    expect(await shiftsOf(page)).toEqual([]);
    expect(page.problems).toEqual([]);
  });

  it("lets ten visitors call when a link says so, for a bounded time", async () => {
    const running = `${WINDOW}&run=1`;
    const page = await open(SIZES[1], "#playground", () => {});
    await page.clock.install();
    await page.goto("about:blank");
    await page.goto(`${demo.url}/${running}`);
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    await page.getByRole("button", { name: /^Stop/ }).waitFor();
    await expect.poll(async () => (await numbersOf(page)).denied).toBeGreaterThan(3);
    expect(await page.getByText(/^\d+\.0 of 5 tokens/).count()).toBe(1);
    // A link that is copied while the visitors call runs them, too.
    await visitor.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.getByRole("button", { name: "Copy a link to this" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${demo.url}/${running}`);
    await page.clock.fastForward(60_000);
    await page.getByRole("button", { name: "Ten visitors" }).waitFor();
    await expect.poll(async () => (await numbersOf(page)).waiting).toBe(0);
    const { denied } = await numbersOf(page);
    await page.waitForTimeout(2000);
    expect((await numbersOf(page)).denied).toBe(denied);
    expect(page.problems).toEqual([]);
  });

  it("lets ten visitors call each time such a link is opened, also while others call", async () => {
    const page = await open(SIZES[0], `${WINDOW}&run=1`);
    const stop = page.getByRole("button", { name: /^Stop/ });
    const letLoose = page.getByRole("button", { name: "Ten visitors" });
    await stop.click();
    await letLoose.waitFor();
    // A reload starts no calls.
    expect(await page.evaluate(() => location.hash)).toBe(WINDOW);
    const followLink = () =>
      page.evaluate((hash) => void (location.hash = hash), `${WINDOW}&run=1`);
    await followLink();
    await stop.click();
    await letLoose.click();
    await followLink();
    await expect.poll(() => page.evaluate(() => location.hash)).toBe(WINDOW);
    await page.waitForTimeout(500);
    expect(await stop.count()).toBe(1);
    expect(page.problems).toEqual([]);
  });

  it("lets no visitor call when the limit of such a link is not in force", async () => {
    const page = await open();
    await page.route(/playground\.choose/, (route) => route.abort());
    let calls = 0;
    page.on("request", (request) => void (request.url().includes("playground.take") && calls++));
    await page.evaluate((hash) => void (location.hash = hash), `${WINDOW}&run=1`);
    await shows(page, "The server did not answer. Try again.");
    await page.waitForTimeout(2000);
    expect(calls).toBe(0);
  });

  it("sends at most thirty calls of those that have waited for another limit", async () => {
    const page = await open();
    let answer = () => {};
    await page.route(/playground\.choose/, async (route) => {
      await new Promise<void>((resolve) => (answer = resolve));
      await route.continue();
    });
    const chosen = page.waitForRequest(/playground\.choose/);
    await preset(page, "Window").click();
    await chosen;
    let calls = 0;
    page.on(
      "request",
      (request) => void (calls += request.url().split("playground.take").length - 1),
    );
    await call(page).evaluate((button: HTMLElement) => {
      for (let i = 0; i < 60; i++) button.click();
    });
    await page.waitForTimeout(200);
    expect(calls).toBe(0);
    answer();
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    await expect.poll(() => calls).toBe(30);
    await expect.poll(async () => (await numbersOf(page)).waiting).toBe(0);
    expect(await numbersOf(page)).toMatchObject({ granted: 5, denied: 25 });
  });

  it("calls no more when the visitor goes to another part", async () => {
    const page = await open();
    await page.getByRole("button", { name: "Ten visitors" }).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBeGreaterThan(1);
    await followPartLink(page, "Log in");
    await page.getByRole("heading", { name: "Log in" }).waitFor();
    let calls = 0;
    page.on("request", (request) => void (request.url().includes("playground.take") && calls++));
    await page.waitForTimeout(2500);
    expect(calls).toBe(0);
  });

  it("keeps what is set in the address, for a reload, for others, and to go back", async () => {
    const page = await open();
    await visitor.grantPermissions(["clipboard-read", "clipboard-write"]);
    const hashOf = (tab: Page) => tab.evaluate(() => location.hash);
    expect(await hashOf(page)).toBe("#playground");
    await preset(page, "Window").click();
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    await preset(page, "Reserve").click();
    await shows(page, "In force: token bucket, 30 per 60 s, at most 4.");
    await page.getByLabel("Tokens of a call").fill("2");
    const hash = "#playground?kind=token-bucket&rate=30&period=60s&capacity=4&count=2&reserve";
    await expect.poll(() => hashOf(page)).toBe(hash);
    await page.getByRole("button", { name: "Copy a link to this" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(link).toBe(`${demo.url}/${hash}`);

    // The limit is not chosen again, so its tokens stay taken: all of them, and two more.
    for (let i = 0; i < 3; i++) await call(page).click();
    await expect.poll(async () => (await numbersOf(page)).granted).toBe(3);
    await page.reload();
    await shows(page, /\d\.\d (?:tokens are owed|of 4 tokens); 0.5 come/);
    expect(await page.getByLabel("Tokens of a call").inputValue()).toBe("2");
    const other = await open(SIZES[1], hash);
    await shows(other, "In force: token bucket, 30 per 60 s, at most 4.");
    expect(await other.getByLabel("Reserve", { exact: true }).isChecked()).toBe(true);
    expect(await other.getByLabel("Capacity, tokens").inputValue()).toBe("4");

    await page.goBack();
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    await expect.poll(() => page.getByLabel("Tokens of a call").inputValue()).toBe("1");
    await page.goBack();
    await shows(page, "In force: token bucket, 30 per 60 s, at most 10.");
    await page.goForward();
    await shows(page, "In force: fixed window, 5 per 10 s, at most 5.");
    // The form follows the limit in force, but may be drawn later.
    await expect.poll(() => page.getByLabel("Kind").inputValue()).toBe("fixed window");
    expect([...page.problems, ...other.problems]).toEqual([]);
  });

  it("says what is wrong with an address, and keeps the limit in force", async () => {
    const page = await open(SIZES[1], "#playground?kind=token-bucket&rate=0&period=60s&count=4");
    const alert = page.getByRole("alert");
    await alert.filter({ hasText: "rate must be from 0.1 to 10,000" }).waitFor();
    await shows(page, "In force: token bucket, 30 per 60 s, at most 10.");
    expect(await violationsOf(page)).toEqual([]);
    await page.getByLabel("Tokens of a call").fill("2");
    await alert.waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("rate=30&");
    // The visitor types another address instead.
    await page.evaluate(() => void (location.hash = "#playground?kind=<b>&rate=x"));
    await alert.filter({ hasText: "kind must be" }).waitFor();
    await page.evaluate(
      () => void (location.hash = "#playground?kind=fixed-window&rate=9&period=2s"),
    );
    await shows(page, "In force: fixed window, 9 per 2 s, at most 9.");
    await alert.waitFor({ state: "detached" });
    expect(page.problems).toEqual([]);
  });

  it("shows the code of the limit that the form describes, and copies it", async () => {
    const page = await open();
    await visitor.grantPermissions(["clipboard-read", "clipboard-write"]);
    const code = page.locator(".limit-code pre");
    await code.filter({ hasText: "period: MINUTE" }).waitFor();
    await page.getByLabel("Period, s").fill("120");
    await page.getByLabel("Shards").fill("4");
    await code
      .filter({ hasText: "period: 2 * MINUTE,\n      capacity: 10,\n      shards: 4," })
      .waitFor();
    await page.getByRole("button", { name: "Copy the code of this limit" }).click();
    await page.getByRole("status").filter({ hasText: "Copied" }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toBe(await code.textContent());
    await page.getByLabel("Capacity, tokens").fill("0");
    await code.filter({ hasText: "// capacity must be from 1 to 10,000" }).waitFor();
    expect(await page.getByRole("button", { name: "Copy the code of this limit" }).count()).toBe(0);
    expect(page.problems).toEqual([]);
  });
});

/** Runs in the page: counts the pixels of the plot that have a colour. */
function countPixels(colour: string): number {
  const canvas = document.querySelector<HTMLCanvasElement>(".plot canvas")!;
  const probe = document.body.appendChild(document.createElement("span"));
  probe.style.color = colour;
  const [r, g, b] = getComputedStyle(probe).color.match(/\d+/g)!.map(Number);
  probe.remove();
  const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i] === r && data[i + 1] === g && data[i + 2] === b && data[i + 3] === 255) count++;
  }
  return count;
}

/** Runs in the page: every second answer to a call takes half a second longer. */
function delayAnswers(): void {
  const { fetch } = window;
  let calls = 0;
  window.fetch = async (...request) => {
    const answer = await fetch(...request);
    const isSlow = answer.url.includes("playground.take") && calls++ % 2 === 0;
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 500));
    return answer;
  };
}

/** Runs in the page: changes an answer of 8 tokens to 8.25 tokens. */
function falsifyAnswers(): void {
  const { fetch } = window;
  window.fetch = async (...request) => {
    const answer = await fetch(...request);
    if (!answer.url.includes("playground.take")) return answer;
    const text = (await answer.text()).replace(/"value":8(\.\d+)?/, '"value":8.25');
    return new Response(text, answer);
  };
}
