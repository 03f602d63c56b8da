/** The part of the demo with the language model: prompts that run, queue, are denied or go away. */
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { launchChromium } from "../support/chromium.js";
import { type Demo, startDemo } from "../support/demo.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

/** Their answers take 5 and 10 s. */
const LONG = "first two three four five six seven eight nine ten";
const LONGER = `${LONG} ${LONG}`;

let browser: Browser;
let demo: Demo;
let visitor: BrowserContext;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());
beforeEach(async () => {
  demo = await startDemo();
  visitor = await browser.newContext();
});
afterEach(async () => {
  await visitor.close();
  await demo[Symbol.asyncDispose]();
});

async function openModel(): Promise<Page & { problems: string[] }> {
  const page = await visitor.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${demo.url}/#model`);
  await page.getByText("tokens left").waitFor();
  return Object.assign(page, { problems });
}

const askButton = (page: Page) => page.locator("form button.primary");
const forecast = (page: Page, text: string) => page.locator("#forecast").getByText(text).waitFor();
const prompt = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });
const queue = (page: Page) => page.locator("li").filter({ has: page.locator("progress") });

async function ask(page: Page, text: string): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).fill(text);
  await askButton(page).click();
  await prompt(page, text).waitFor();
}

/** The tokens that the page shows. */
async function left(page: Page): Promise<number> {
  const meter = page.getByRole("meter", { name: "Tokens left" });
  return Number(await meter.getAttribute("aria-valuenow"));
}

/** Records every shift of the layout that does not follow a press of the visitor. */
async function recordShifts(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(() => {
    const shifts = { total: 0 };
    Object.assign(globalThis, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { value, hadRecentInput } = entry as unknown as Record<string, number>;
        if (!hadRecentInput) shifts.total += value!;
      }
    }).observe({ type: "layout-shift" });
  });
  return () =>
    page.evaluate(() => (globalThis as unknown as { shifts: { total: number } }).shifts.total);
}

describe.each([
  [1280, 900],
  [390, 844],
])("the model at %i px", (width, height) => {
  it("says what a prompt would get, and the server then does that", async () => {
    const page = await openModel();
    await page.setViewportSize({ width, height });
    const shifts = await recordShifts(page);
    await forecast(page, "It would run at once.");
    await ask(page, LONG);
    await forecast(page, "It would queue");
    await ask(page, "second");
    await ask(page, "third");
    await forecast(page, "It would be denied");
    await ask(page, "fourth");
    await prompt(page, "fourth").getByText("Denied: the queue has no room").waitFor();
    await queue(page).nth(1).waitFor();
    expect(await queue(page).count()).toBe(2);
    await prompt(page, "second")
      .getByText(/It runs at \d\d:\d\d:\d\d, in [34]\d s/)
      .waitFor();
    await page.locator(".answer").getByText("first two").waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}model-${width}.png`, fullPage: true });
    expect(await violationsOf(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      width,
    );
    // It is over, and its bill says what did not come back.
    await prompt(page, "first").getByText("The rest stays charged").first().waitFor();

    const turn = prompt(page, "second").getByText(/It runs at/);
    const before = /\d\d:\d\d:\d\d/.exec((await turn.textContent())!)![0];
    await prompt(page, "third").getByRole("button", { name: "Cancel" }).click();
    await prompt(page, "third").getByText("Cancelled before its turn.").waitFor();
    expect(await turn.textContent()).toContain(before);
    // There is room for another one now.
    await forecast(page, "It would queue");
    expect(await shifts()).toBeLessThan(0.01);
    expect(page.problems).toEqual([]);
  });
});

describe("the model", () => {
  it("gives back the tokens of a page that goes away in the middle of an answer", async () => {
    const page = await openModel();
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const other = await openModel();
    expect(await left(other)).toBeLessThan(400);
    await page.close();
    await expect.poll(() => left(other), { timeout: 5_000 }).toBeGreaterThan(1_050);
  });

  it("gives back the tokens of a page that goes away while its prompt waits", async () => {
    const page = await openModel();
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const other = await openModel();
    await ask(other, "second");
    await queue(other).waitFor();
    const queued = page.getByText(/^queue: \d+ s$/);
    await queued.waitFor();
    await other.close();
    await page.getByText("nothing queued").waitFor({ timeout: 5_000 });
  });

  it("follows a change of the tier at once, with the queue, and in the visitor's other tab", async () => {
    const [page, other] = [await openModel(), await openModel()];
    await ask(page, LONGER);
    await ask(page, "second");
    await prompt(page, "second")
      .getByText(/in (39|40|41) s/)
      .waitFor();
    await page.getByRole("radio", { name: "10,000", exact: true }).check();
    await forecast(page, "It can never run on this tier, which grants 3,600 tokens");
    await askButton(page).click();
    await page.getByText("Denied for ever").waitFor();

    await page.getByRole("radio", { name: "Paid" }).check();
    await page.getByText("of 12,000 tokens left").waitFor({ timeout: 2_000 });
    await prompt(page, "second").getByText("second second").waitFor({ timeout: 8_000 });
    await forecast(page, "It would queue");
    await page.getByText("It would find a place in the queue now.").waitFor();
    // Its stream looks the tier up every five seconds.
    await other.getByText("of 12,000 tokens left").waitFor({ timeout: 8_000 });
    expect(await other.getByRole("radio", { name: "Paid" }).isChecked()).toBe(true);

    await page.getByRole("radio", { name: "Free" }).check();
    await page.getByText("of 1,200 tokens left").waitFor({ timeout: 2_000 });
    await forecast(page, "It can never run");
    expect(page.problems.filter((text) => !text.includes("413"))).toEqual([]);
  });

  it("says that a prompt is lost when its server is killed, and goes on with the next one", async () => {
    const page = await openModel();
    await ask(page, LONGER);
    await page.locator(".answer").getByText("first two").waitFor();
    const { databaseUrl, url } = demo;
    await demo.interrupt();
    await page.getByText("The connection broke.").first().waitFor();
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await page.getByText("live", { exact: true }).waitFor();
    await page.getByRole("radio", { name: "100", exact: true }).check();
    await forecast(page, "It would run at once.");
    await ask(page, "hello again");
    await prompt(page, "hello again").getByText("hello again again").waitFor();
  });
});
