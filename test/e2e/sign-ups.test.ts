/** The part of the demo with the sign-ups: one window for all visitors. */
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { type Demo, startDemo } from "../support/demo.js";
import { byNight } from "../support/nightly.js";
import { problemsOf } from "../support/problems.js";
import { demo as sharedDemo, openBrowser } from "./shared.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
/** The example's windows start every five minutes. */
const WINDOW = 5 * 60_000;

let browser: Browser;
const visitors: BrowserContext[] = [];

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());
afterEach(() => Promise.all(visitors.splice(0).map((visitor) => visitor.close())));

/** Waits for the next window if the current one could end in the middle of a test. */
async function untilWindowLasts(): Promise<void> {
  const remaining = WINDOW - (Date.now() % WINDOW);
  if (remaining < 30_000) await new Promise((resolve) => setTimeout(resolve, remaining + 100));
}

/** A demo without any sign-ups. */
async function emptyDemo(): Promise<Demo> {
  await untilWindowLasts();
  return startDemo();
}

/** Opens the part as a new visitor. */
async function openSignUps(
  demo: { url: string },
  width = 1280,
): Promise<Page & { problems: readonly string[] }> {
  const visitor = await browser.newContext({ viewport: { width, height: 844 } });
  visitors.push(visitor);
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(`${demo.url}/#sign-ups`);
  return Object.assign(page, { problems });
}

const left = (page: Page, count: number) =>
  page.getByText(`${count} of 100 accounts left`, { exact: true }).waitFor();
const account = (page: Page, name: string) =>
  page.getByRole("list", { name: "Latest accounts" }).getByText(name, { exact: true });
const total = (page: Page, text: string) => page.getByRole("heading", { name: text, exact: true });
const clock = (page: Page) => page.getByRole("timer").locator(".stable > :first-child");

/** The seconds of a text such as "4:09". */
function secondsOf(text: string): number {
  const [minutes, seconds] = text.split(":").map(Number);
  return minutes! * 60 + seconds!;
}

/** Runs in the page: records the next texts of an element, and when each came, epoch ms. */
function record(element: Element, count: number): Promise<{ text: string; at: number }[]> {
  const seen: { text: string; at: number }[] = [];
  return new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      seen.push({ text: element.textContent!, at: Date.now() });
      if (seen.length < count) return;
      observer.disconnect();
      resolve(seen);
    });
    observer.observe(element, { childList: true, characterData: true, subtree: true });
  });
}

describe("sign-ups", () => {
  it("show an account to both visitors, and take it off the window that they share", async () => {
    await using demo = await emptyDemo();
    const [first, second] = [await openSignUps(demo), await openSignUps(demo, 390)];
    await Promise.all([left(first, 100), left(second, 100)]);
    await first.getByText("No account yet.").waitFor();
    await first.getByRole("textbox").fill("Number One");
    await first.getByRole("button", { name: "Sign up", exact: true }).click();
    await first.getByText("“Number One” is signed up.").waitFor();
    await Promise.all([left(first, 99), left(second, 99)]);
    await Promise.all([first, second].map((page) => account(page, "Number One").waitFor()));

    // Without a name, the server chooses one.
    expect(await first.getByRole("textbox").inputValue()).toBe("");
    await second.getByRole("button", { name: "Sign up", exact: true }).click();
    await second.getByText("“account 2” is signed up.").waitFor();
    await Promise.all([first, second].map((page) => account(page, "account 2").waitFor()));
    await Promise.all([first, second].map((page) => total(page, "2 accounts").waitFor()));
    expect([...first.problems, ...second.problems]).toEqual([]);
  });

  it.each(byNight([1280, 390]))(
    "deny the 101st at %i px, and leave the others their accounts",
    async (width) => {
      await using demo = await emptyDemo();
      const [first, second] = [await openSignUps(demo, width), await openSignUps(demo)];
      await left(first, 100);
      await first.getByText("The 101st is denied.").waitFor();
      await first.getByRole("button", { name: "All 100 left, and one more" }).click();
      const outcome = first.getByText("100 accounts are signed up. One more was denied until");
      await outcome.waitFor();
      const nextWindow = new Date(Math.ceil(Date.now() / WINDOW) * WINDOW);
      const time = nextWindow.toLocaleTimeString("en-GB");
      expect(await outcome.textContent()).toContain(`denied until ${time}.`);
      await first.locator(".window").getByText(time).first().waitFor();

      await Promise.all([left(first, 0), left(second, 0)]);
      await Promise.all([first, second].map((page) => total(page, "100 accounts").waitFor()));
      await account(second, "account 100").waitFor();
      expect(await second.getByRole("listitem").filter({ hasText: "account" }).count()).toBe(10);

      // The button waits for the next window, and says so after Enter.
      const waiting = second.locator("button.primary").filter({ hasText: /Wait (\dm )?\d+s/ });
      expect(await waiting.isDisabled()).toBe(true);
      await second.getByRole("textbox").fill("Too Late");
      await second.getByRole("textbox").press("Enter");
      await second
        .getByText(/^Not yet: in (\d min )?\d+ s\.$/)
        .first()
        .waitFor();
      // The server denies a visitor who tries anyway.
      await second.getByRole("button", { name: "Try one more" }).click();
      await second.getByText(`The sign-up was denied until ${time}.`).waitFor();
      expect(await second.getByRole("textbox").inputValue()).toBe("Too Late");
      await first.screenshot({ path: `${SCREENSHOTS}sign-ups-${width}.png`, fullPage: true });
      expect(await violationsOf(first)).toEqual([]);
      expect(await first.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
        width,
      );
      await total(second, "100 accounts").waitFor();
    },
  );

  it.each([1280, 390])("show what is left as a bar, at %i px", async (width) => {
    const page = await openSignUps(sharedDemo, width);
    await page.getByText(/\d of 100 accounts left/).waitFor();
    const meter = (await page.getByRole("meter").boundingBox())!;
    const bar = (await page.getByRole("meter").locator("svg").boundingBox())!;
    expect(bar.width).toBeCloseTo(meter.width, 0);
    expect(bar.width).toBeGreaterThan(5 * bar.height);
  });

  it("count down to the next window without a jump, also on a page whose clock is wrong", async () => {
    await untilWindowLasts();
    const page = await openSignUps(sharedDemo);
    const seen = await clock(page).evaluate(record, 4);
    for (const [i, { text, at }] of seen.entries()) {
      const remaining = (WINDOW - (at % WINDOW)) / 1000;
      expect(Math.abs(secondsOf(text) - remaining)).toBeLessThan(1.5);
      // A busy page may be late, and then it skips a second.
      if (i > 0) expect(secondsOf(text)).toBeLessThan(secondsOf(seen[i - 1]!.text));
    }

    const wrong = await browser.newContext();
    visitors.push(wrong);
    await wrong.addInitScript(() => {
      const now = Date.now.bind(Date);
      Date.now = () => now() + 100_000;
    });
    const ahead = await wrong.newPage();
    await ahead.goto(`${sharedDemo.url}/#sign-ups`);
    await expect
      .poll(async () => {
        const both = await Promise.all([page, ahead].map((each) => clock(each).textContent()));
        const [a, b] = both.map((text) => secondsOf(text!));
        return Math.abs(a! - b!);
      })
      .toBeLessThanOrEqual(1);
  });

  it("say that nothing was saved when the server is gone, and go on when it is back", async () => {
    await using demo = await emptyDemo();
    const page = await openSignUps(demo);
    await left(page, 100);
    const { databaseUrl, url } = demo;
    await demo.interrupt();
    await page.getByRole("button", { name: "Sign up", exact: true }).click();
    await page.getByText("1 failed: the server did not answer").waitFor();
    await page.getByText("These were the latest ten.").waitFor();
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    await page.getByText("The latest ten").waitFor();
    await page.getByRole("button", { name: "Sign up", exact: true }).click();
    await page.getByText("“account 1” is signed up.").waitFor();
    await left(page, 99);
  });
});
