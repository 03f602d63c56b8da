/** The part of the demo with two visitors in one page. */
import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, FrameLocator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));

/** The windows of the sign-ups start every five minutes. */
const WINDOW = 5 * 60_000;

let browser: Browser;
let visitors: BrowserContext[] = [];
beforeAll(async () => {
  browser = await openBrowser();
});
afterEach(async () => {
  await Promise.all(visitors.map((visitor) => visitor.close()));
  visitors = [];
});
afterAll(() => browser.close());

async function open(width: number, colorScheme: "light" | "dark" = "light") {
  const visitor = await browser.newContext({ viewport: { width, height: 844 }, colorScheme });
  visitors.push(visitor);
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(`${demo.url}/#side-by-side`);
  return Object.assign(page, { problems });
}

const framesOf = (page: Page, part: "Chat" | "Sign-ups") => ({
  you: page.frameLocator(`iframe[title="${part}: You"]`),
  other: page.frameLocator(`iframe[title="${part}: Another visitor"]`),
});
const left = (frame: FrameLocator, text: string) =>
  frame.getByText(text, { exact: true }).waitFor();
const messages = (frame: FrameLocator) =>
  frame.getByRole("list", { name: "Messages" }).getByRole("listitem");

async function send(frame: FrameLocator, text: string): Promise<void> {
  await frame.getByRole("textbox", { name: "Message" }).fill(text);
  await frame.getByRole("textbox", { name: "Message" }).press("Enter");
}

describe.each([
  [1280, "light"],
  [390, "dark"],
] as const)("two visitors at %i px", (width, colorScheme) => {
  it("have a bucket each in the chat, and see each other's messages at once", async () => {
    const page = await open(width, colorScheme);
    const { you, other } = framesOf(page, "Chat");
    await Promise.all([left(you, "3 left"), left(other, "3 left")]);
    // Neither frame takes the focus from the page.
    expect(await page.evaluate(() => document.activeElement?.tagName)).not.toBe("IFRAME");
    const text = `from you at ${width} px`;
    await send(you, [text, "two", "three", "four"].join("\n"));
    await left(you, "0 left");
    await messages(other).filter({ hasText: text }).waitFor();
    await left(other, "3 left");
    expect(await messages(you).filter({ hasText: text }).textContent()).toMatch(/^You /);
    expect(await messages(other).filter({ hasText: text }).textContent()).toMatch(/^Guest /);
    const answer = `from the other at ${width} px`;
    await send(other, answer);
    await left(other, "2 left");
    await messages(you).filter({ hasText: answer }).waitFor();
    expect(await messages(you).filter({ hasText: answer }).textContent()).toMatch(/^Guest /);
    await page.screenshot({ path: `${SCREENSHOTS}two-visitors-${width}.png`, fullPage: true });

    // The page around the frames uses the cookie of the first visitor.
    const cookies = await page.context().cookies();
    expect(cookies.map(({ name }) => name).sort()).toEqual(["visitor", "visitor-2"]);
    expect(cookies.every(({ httpOnly }) => httpOnly)).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    // In a frame, only the messages scroll.
    for (const frame of page.frames()) {
      const scrolls = await frame.evaluate(() => {
        const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
        return { x: scrollWidth > clientWidth, y: scrollHeight > clientHeight };
      });
      expect(scrolls).toEqual({ x: false, y: frame === page.mainFrame() && scrolls.y });
    }
    expect(page.problems).toEqual([]);
  });

  it("share one window of sign-ups", async () => {
    const page = await open(width, colorScheme);
    await page.getByRole("radio", { name: "Sign-ups" }).check();
    const { you, other } = framesOf(page, "Sign-ups");
    // If a window ended in the middle of the test, its next window would bring new accounts.
    const remaining = WINDOW - (Date.now() % WINDOW);
    if (remaining < 20_000) await page.waitForTimeout(remaining + 100);
    const count = /^(\d+) of 100 accounts left$/;
    const before = Number(count.exec((await you.getByText(count).textContent())!)![1]);
    await left(other, `${before} of 100 accounts left`);
    await other.getByRole("button", { name: "Sign up", exact: true }).click();
    await other.getByText("is signed up.").waitFor();
    await Promise.all([you, other].map((each) => left(each, `${before - 1} of 100 accounts left`)));
    await page.screenshot({ path: `${SCREENSHOTS}two-sign-ups-${width}.png`, fullPage: true });
    expect(await violationsOf(page)).toEqual([]);
    for (const frame of page.frames().slice(1)) {
      const overflow = await frame.evaluate(
        () => document.documentElement.scrollHeight - document.documentElement.clientHeight,
      );
      expect(overflow).toBeLessThanOrEqual(0);
    }
    expect(page.problems).toEqual([]);
  });
});
