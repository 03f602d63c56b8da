/** The parts of the demo in a page that the browser translates: waits start, tick and end there, too. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { translatePage } from "../support/translate.js";
import { demo, openBrowser } from "./shared.js";
import { COUNTDOWN } from "../support/countdown.js";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const press = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true }).first().click();
const shows = (page: Page, text: string | RegExp) => page.getByText(text).first().waitFor();
const timer = (page: Page) => page.locator(COUNTDOWN).first();

it.each<[part: string, use: (page: Page) => Promise<void>]>([
  [
    "overview",
    async (page) => {
      const button = page.locator(".try button").first();
      for (let i = 0; i < 8; i++) await button.click();
      await button.filter({ hasText: /^Wait \ds$/ }).waitFor();
      await button.filter({ hasText: /^Send$/ }).waitFor();
      await shows(page, /^[1-5] of 5$/);
    },
  ],
  [
    "chat",
    async (page) => {
      const field = page.getByRole("textbox", { name: "Message" });
      await field.fill("one\ntwo\nthree\nfour\nfive");
      await field.press("Enter");
      await shows(page, /^2 waiting, the next in [1-6] s$/);
      await shows(page, /^1 waiting, the next in [1-6] s$/);
      await press(page, "Cancel 1 message");
      await timer(page).waitFor();
      await timer(page).waitFor({ state: "detached" });
    },
  ],
  [
    "log-in",
    async (page) => {
      const field = page.locator("input[type=password]");
      for (let left = 4; left >= 0; left--) {
        await field.fill("wrong");
        await Promise.all([page.waitForResponse(/logIn\.attempt/), field.press("Enter")]);
        await shows(page, `${left} of 5 attempts left`);
        await shows(page, /This password is wrong|No attempt is left/);
      }
      await shows(page, /^No attempt is left/);
      await field.fill("open sesame");
      await field.press("Enter");
      await shows(page, /^Not yet: in \d+ s\.$/);
      await shows(page, "1 of 5 attempts left");
      await field.press("Enter");
      await shows(page, /^You are logged in/);
      await press(page, "Log out");
      await page.getByRole("button", { name: "Log in", exact: true }).waitFor();
    },
  ],
  [
    "model",
    async (page) => {
      for (const text of [
        "first two three four five six seven eight nine ten",
        "second",
        "third",
      ]) {
        await page.getByRole("textbox", { name: "Prompt" }).fill(text);
        await page.locator("form button.primary").click();
        await page.getByRole("listitem").filter({ hasText: text }).first().waitFor();
      }
      await shows(page, /^\d waiting, the next in \d+ s$/);
      await press(page, /^Cancel/);
      await shows(page, "Cancelled before its turn.");
    },
  ],
  [
    "playground",
    async (page) => {
      for (let i = 0; i < 3; i++) await press(page, "Call");
      await press(page, "Ten visitors");
      await page.getByRole("button", { name: /^Stop/ }).waitFor();
      // The seconds go on in a translated page, too.
      const seconds = () => timer(page).textContent();
      const before = await seconds();
      await expect.poll(seconds).not.toBe(before);
      await press(page, /^Stop/);
      await page.getByRole("button", { name: "Ten visitors" }).waitFor();
    },
  ],
  [
    "sign-ups",
    async (page) => {
      await press(page, "Sign up");
      await shows(page, /^\d+ of 100 accounts left$/);
      await page.getByRole("status").filter({ hasText: /\w/ }).first().waitFor();
    },
  ],
  [
    "behind",
    async (page) => {
      await press(page, "Reset my limits");
      await shows(page, /^Process \d has deleted \d rows?\.$/);
    },
  ],
])("%s", async (part, use) => {
  await using context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    // Chromium logs each answer above 400, and a denial is one.
    const isAnswer = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isAnswer) problems.push(message.text());
  });
  await page.goto(`${demo.url}/#${part}`);
  await page.locator("h1, .try button").first().waitFor();
  await page.evaluate(translatePage);
  expect(await page.locator("font font").count()).toBeGreaterThan(5);
  await use(page);
  expect(problems).toEqual([]);
});
