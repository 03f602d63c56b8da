import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demo, openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

let browser: Browser;

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

type LogInPage = Page & { problems: string[] };

async function openLogIn(context?: BrowserContext): Promise<LogInPage> {
  const page = await (context ?? (await browser.newContext())).newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    // Chromium logs each answer above 400, and a denial is one.
    const isAnswer = message.text().startsWith("Failed to load resource");
    const isProblem = message.type() === "error" || message.type() === "warning";
    if (isProblem && !isAnswer) problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${demo.url}/#log-in`);
  await attempts(page, 5);
  return Object.assign(page, { problems });
}

const attempts = (page: Page, left: number) =>
  page.getByText(`${left} of 5 attempts left`, { exact: true }).waitFor();
const news = (page: Page, text: string) =>
  page.locator(".news").filter({ hasText: text }).waitFor();
const submit = (page: Page) => page.locator("button[type=submit]");
const tryAnyway = (page: Page) => page.getByRole("button", { name: "Try anyway" });
const seconds = async (page: Page) =>
  Number(/^(\d+)s$/.exec((await page.locator(COUNTDOWN).textContent()) ?? "")?.[1]);

async function fail(page: Page): Promise<void> {
  await page.getByLabel("Password", { exact: true }).fill("wrong");
  await Promise.all([
    page.waitForResponse(/logIn\.attempt/),
    page.getByLabel("Password", { exact: true }).press("Enter"),
  ]);
  await page
    .locator(".news")
    .filter({ hasText: /wrong|No attempt/ })
    .waitFor();
}

describe("the log-in", () => {
  it("counts failures, shows the wait before the next try, and closes for one too many", async () => {
    const page = await openLogIn();
    const { y } = (await page.locator(".cost").boundingBox())!;
    for (const left of [4, 3, 2, 1]) {
      await fail(page);
      await news(page, "This password is wrong.");
      await attempts(page, left);
      expect(await tryAnyway(page).isDisabled()).toBe(true);
    }
    await fail(page);
    await attempts(page, 0);
    await news(page, "No attempt is left");
    expect(await submit(page).isDisabled()).toBe(true);
    expect(await seconds(page)).toBeLessThanOrEqual(12);
    // Enter says when the button opens, and keeps the password.
    await page.getByLabel("Password", { exact: true }).press("Enter");
    await news(page, "Not yet: in");
    expect(await page.getByLabel("Password", { exact: true }).inputValue()).toBe("wrong");
    await page.screenshot({ path: `${SCREENSHOTS}log-in-exhausted.png` });

    await tryAnyway(page).click();
    await news(page, "That was one too many");
    // Half a minute, and the time that a token takes. A token comes back within 12 seconds.
    await expect.poll(() => seconds(page)).toBeGreaterThan(12);
    expect(await seconds(page)).toBeLessThanOrEqual(42);
    expect(await tryAnyway(page).isDisabled()).toBe(true);
    await page.screenshot({ path: `${SCREENSHOTS}log-in-closed.png` });
    // Neither a countdown nor a text has moved what stands below.
    expect((await page.locator(".cost").boundingBox())!.y).toBe(y);
    // The page knows the wait after a reload, too. Another visitor is not affected.
    await page.reload();
    await page.locator(COUNTDOWN).waitFor();
    expect(await seconds(page)).toBeGreaterThan(12);
    // The account is closed, so a try cannot close it.
    await news(page, "The account is closed");
    expect(await page.locator(".news").textContent()).not.toContain("Trying anyway");
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    expect(await tryAnyway(page).isDisabled()).toBe(true);
    await openLogIn();
    expect(page.problems).toEqual([]);
  });

  it("tells attempts that are left from those that are gone, also in forced colours", async () => {
    const page = await openLogIn(await browser.newContext({ forcedColors: "active" }));
    await fail(page);
    await attempts(page, 4);
    const colours = await page
      .locator(".attempts i")
      .evaluateAll((dots) => dots.map((dot) => getComputedStyle(dot).backgroundColor));
    expect(new Set(colours.slice(0, 4)).size).toBe(1);
    expect(colours[4]).not.toBe(colours[0]);
    await page.screenshot({ path: `${SCREENSHOTS}log-in-forced-colours.png` });
  });

  it("forgets the failures after the right password, in all tabs", async () => {
    const context = await browser.newContext();
    const [page, second] = [await openLogIn(context), await openLogIn(context)];
    await fail(page);
    await fail(page);
    await attempts(second, 3);
    await page.getByLabel("Password", { exact: true }).fill("open sesame");
    await page.keyboard.press("Enter");
    await news(page, "You are logged in.");
    await Promise.all([attempts(page, 5), attempts(second, 5)]);
    await submit(page).filter({ hasText: "Log out" }).click();
    await expect.poll(() => page.locator(".news").textContent()).toBe("");
    await expect.poll(() => page.getByLabel("Password", { exact: true }).inputValue()).toBe("");
    expect(page.problems).toEqual([]);
  });

  it("says that the server did not answer, and takes no attempt for that", async () => {
    const page = await openLogIn();
    await page.route(/logIn\.attempt/, (route) => route.abort());
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await news(page, "The server did not answer.");
    await attempts(page, 5);
    await page.unroute(/logIn\.attempt/);
    await fail(page);
    await attempts(page, 4);
  });

  it("does not call a password wrong that the server has not checked", async () => {
    const page = await openLogIn();
    await page.route(/logIn\.attempt/, (route) => {
      const postData = route.request().postData()!.replace("wrong", "x".repeat(201));
      return route.continue({ postData });
    });
    await page.getByLabel("Password", { exact: true }).fill("wrong");
    await page.keyboard.press("Enter");
    await news(page, "The server could not check the password.");
  });
});
