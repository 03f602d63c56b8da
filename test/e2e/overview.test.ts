/** The first part: a button under a real limit, and the lines that act beside it. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { violationsOf } from "../support/axe.js";
import { problemsOf } from "../support/problems.js";
import { demo, openBrowser } from "./shared.js";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

/** The first part, as a new visitor finds it. */
async function open(options?: Parameters<Browser["newContext"]>[0]) {
  const visitor = await browser.newContext(options);
  const page = await visitor.newPage();
  const problems = problemsOf(page);
  await page.goto(demo.url);
  await left(page, 5).waitFor();
  return {
    page,
    async [Symbol.asyncDispose]() {
      expect(problems).toEqual([]);
      await visitor.close();
    },
  };
}

const button = (page: Page) => page.locator(".try button");
const left = (page: Page, count: number) => page.getByText(`${count} of 5 calls left`);
const waiting = (page: Page) => button(page).filter({ hasText: /^Wait \ds$/ });
const ready = (page: Page) => button(page).filter({ hasText: /^Send$/ });
/** All at once, so that no token comes back meanwhile. */
const drain = (page: Page) =>
  button(page).evaluate((each: HTMLElement) => {
    for (let i = 0; i < 8; i++) each.click();
  });
/** The line with this text, while it acts. */
const acting = (page: Page, text: string) =>
  page.locator(".line[data-acts=true]").filter({ hasText: text });

it("drains, counts down and comes back, and the lines act that do it", async () => {
  await using visitor = await open();
  const { page } = visitor;
  // A line acts for a second.
  await Promise.all([
    button(page).click(),
    acting(page, "onClick={() => send.mutate()}").waitFor(),
    acting(page, `.use(rl.rateLimited("sendHello"))`).waitFor(),
    acting(page, ".mutation(").waitFor(),
    acting(page, "sendHello: { kind:").waitFor(),
  ]);
  await page.getByText(/^The server let it pass, and answered in \d+ ms\.$/).waitFor();
  expect(await acting(page, "RateLimitCountdown").count()).toBe(0);

  // A full bucket, so that the wait after it is as long as it can be.
  await left(page, 5).waitFor();
  await Promise.all([
    drain(page),
    waiting(page).waitFor(),
    left(page, 0).waitFor(),
    page.locator("[role=meter][aria-valuenow='0']").waitFor(),
    acting(page, "<RateLimitCountdown").waitFor(),
    page.getByText(/^Your next call: \d\d:\d\d:\d\d\.\d{3}/).waitFor(),
  ]);
  await Promise.all([
    ready(page).waitFor(),
    left(page, 1).waitFor(),
    acting(page, "<RateLimitCountdown").waitFor({ state: "detached" }),
  ]);
  // The page was right: the server lets this one pass.
  await Promise.all([drain(page), waiting(page).waitFor()]);
  await page.getByText("The server let it pass").waitFor();
});

it("sends nothing while it waits, and the server denies what is sent all the same", async () => {
  await using visitor = await open();
  const { page } = visitor;
  let calls = 0;
  page.on("request", (request) => {
    // The calls of one tick travel in one request.
    calls += request.url().split("overview.send").length - 1;
  });
  await Promise.all([drain(page), waiting(page).waitFor(), left(page, 0).waitFor()]);
  await expect.poll(() => calls).toBe(5);
  const answers = await Promise.all(
    Array.from({ length: 10 }, () =>
      page.request.post(`${demo.url}/trpc/overview.send`, { data: {} }),
    ),
  );
  expect(answers.map((answer) => answer.status())).toContain(429);
  expect(calls).toBe(5);
});

it("works with the keyboard, and keeps the focus while it waits", async () => {
  await using visitor = await open({ reducedMotion: "reduce" });
  const { page } = visitor;
  await button(page).focus();
  const kept = page.locator(".try button:focus[aria-disabled=true]").waitFor();
  for (let i = 0; i < 20 && !(await waiting(page).isVisible()); i++) {
    await page.keyboard.press("Enter");
  }
  await kept;
  await ready(page).waitFor();
  await page.keyboard.press("Space");
  await page.getByText("The server let it pass").waitFor();
});

it("gives the command to install it to the clipboard", async () => {
  await using visitor = await open({ permissions: ["clipboard-read", "clipboard-write"] });
  const { page } = visitor;
  await page.getByRole("button", { name: "Copy the command" }).click();
  await page.getByRole("button", { name: "Copied the command" }).waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("npm i trpc-rate-limit");
});

describe.each([
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
  { width: 320, height: 640 },
])("at $width px", (viewport) => {
  it.each(["light", "dark"] as const)("fits and has no barrier, in %s", async (colorScheme) => {
    await using visitor = await open({ viewport, colorScheme });
    const { page } = visitor;
    await Promise.all([drain(page), waiting(page).waitFor()]);
    const { y, height } = (await button(page).boundingBox())!;
    const size = await page.evaluate(() => {
      const { scrollWidth, scrollHeight } = document.documentElement;
      return { scrollWidth, scrollHeight };
    });
    expect(size.scrollWidth).toBe(viewport.width);
    // The promise and the button are seen at once; in a wide window, all of it is.
    expect(y + height).toBeLessThan(viewport.height);
    if (viewport.width === 1280) expect(size.scrollHeight).toBe(viewport.height);
    expect(await violationsOf(page)).toEqual([]);
  });
});
