import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, Locator, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchChromium } from "../support/chromium.js";
import { type Demo, startDemo } from "../support/demo.js";

const SCREENSHOTS = fileURLToPath(new URL("screenshots/", import.meta.url));
/** The example refills one message every six seconds. */
const REFILL = 6000;

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

/** Opens the chat; what the page logs as an error fails the test that looks at `problems`. */
async function openChat(context: BrowserContext = visitor): Promise<Page & { problems: string[] }> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(demo.url);
  return Object.assign(page, { problems });
}

const button = (page: Page) => page.locator("button[type=submit]");
const labelled = (page: Page, text: string | RegExp) => button(page).filter({ hasText: text });
const field = (page: Page) => page.getByRole("textbox");
const messages = (page: Page, text: string) => page.getByRole("listitem").filter({ hasText: text });
/** The meter as a screen reader finds it, while it shows so many. */
const meter = (page: Page, left: number): Locator =>
  page
    .getByRole("meter", { name: "Messages left", exact: true })
    .and(page.locator(`[aria-valuenow="${left}"][aria-valuetext="${left} of 3"]`));

async function send(page: Page, text: string): Promise<void> {
  await field(page).fill(text);
  await button(page).click();
  await messages(page, text).waitFor();
}

/** Sends a message and keeps it from the server, for the test to let it go or to lose it. */
async function sendAndHold(page: Page, text: string): Promise<Route> {
  const held: Route[] = [];
  await page.route("**/trpc/chat.send*", (route) => void held.push(route), { times: 1 });
  await field(page).fill(text);
  await button(page).click();
  await expect.poll(() => held.length).toBe(1);
  return held[0]!;
}

describe("the chat", () => {
  it("counts down from what is left to a wait, and back to sending at the promised second", async () => {
    const page = await openChat();
    await labelled(page, "Send (3 left)").waitFor();
    await meter(page, 3).waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}1-ready.png` });
    await send(page, "one");
    await labelled(page, "Send (2 left)").waitFor();
    await meter(page, 2).waitFor();
    await send(page, "two");
    await labelled(page, "Send (1 left)").waitFor();
    await meter(page, 1).waitFor();
    await send(page, "three");
    await labelled(page, "Wait").waitFor();
    const waitingSince = Date.now();
    await meter(page, 0).waitFor();
    await field(page).fill("four");
    await field(page).press("Enter");
    await page.screenshot({ path: `${SCREENSHOTS}2-waiting.png` });
    expect(await button(page).isDisabled()).toBe(true);
    expect(await page.getByRole("timer").textContent()).toMatch(/^[1-6]s$/);

    await labelled(page, "Send (1 left)").waitFor();
    // It came back by itself, no later than the refill, give or take a slow machine.
    expect(Date.now() - waitingSince).toBeLessThan(REFILL + 1000);
    // What was typed while nothing could be sent is still there, and has not gone by itself.
    expect(await field(page).inputValue()).toBe("four");
    expect(await messages(page, "four").count()).toBe(0);
    await button(page).click();
    await messages(page, "four").waitFor();
    await page.screenshot({ path: `${SCREENSHOTS}3-sent-again.png` });
    expect(page.problems).toEqual([]);
  });

  it("takes a message off the meter at the click, before the server has heard of it", async () => {
    const page = await openChat();
    await meter(page, 3).waitFor();
    const message = await sendAndHold(page, "one");
    await meter(page, 2).waitFor();
    await labelled(page, "Send (2 left)").waitFor();
    expect(await messages(page, "one").count()).toBe(0);
    // One can go on typing, and what is typed outlives what is being sent.
    await page.keyboard.type(" and more");
    await message.continue();
    await messages(page, "one").waitFor();
    expect(await field(page).inputValue()).toBe("one and more");
    expect(page.problems).toEqual([]);
  });

  it("gives back a message that gets nowhere: its text, and its place on the meter", async () => {
    const page = await openChat();
    await meter(page, 3).waitFor();
    // Nobody tells the page that nothing was charged.
    await page.route(/rateLimit\.status/, (route) => route.abort());
    const message = await sendAndHold(page, "one");
    await meter(page, 2).waitFor();
    await message.abort();
    await page.getByRole("alert").filter({ hasText: "could not be sent" }).waitFor();
    // Not waited for: the bucket would be full again in a few seconds anyway.
    expect(await meter(page, 3).count()).toBe(1);
    expect(await field(page).inputValue()).toBe("one");
    await button(page).click();
    await messages(page, "one").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });

  it("learns of a refusal from the refusal itself, and keeps the text", async () => {
    // A page that hears of its limit once, and never again.
    let asked = 0;
    await visitor.route(/rateLimit\.watch/, (route) => route.abort());
    await visitor.route(/rateLimit\.status/, (route) =>
      asked++ === 0 ? route.continue() : route.abort(),
    );
    const page = await openChat();
    await meter(page, 3).waitFor();
    for (const text of ["b1", "b2", "b3"]) {
      const answer = await visitor.request.post(`${demo.url}/trpc/chat.send`, { data: { text } });
      expect(answer.status()).toBe(200);
    }
    await field(page).fill("b4");
    await button(page).click();
    await page.getByRole("alert").filter({ hasText: "too quick" }).waitFor();
    await labelled(page, "Wait").waitFor();
    await meter(page, 0).waitFor();
    expect(await field(page).inputValue()).toBe("b4");
    await labelled(page, "Send (1 left)").waitFor();
    await button(page).click();
    await messages(page, "b4").waitFor();
  });

  it("keeps two tabs of one visitor in step, and leaves another visitor alone", async () => {
    const [first, second] = [await openChat(), await openChat()];
    const stranger = await openChat(await browser.newContext());
    await Promise.all([first, second, stranger].map((tab) => labelled(tab, "3 left").waitFor()));
    await send(first, "from the first tab");
    await labelled(second, "Send (2 left)").waitFor();
    await send(second, "from the second tab");
    await labelled(first, "Send (1 left)").waitFor();
    await send(first, "and the last one");
    await Promise.all([first, second].map((tab) => labelled(tab, "Wait").waitFor()));
    await labelled(stranger, "Send (3 left)").waitFor();
  });

  it("knows the visitor and the limit after a reload and after a restart of the server", async () => {
    const page = await openChat();
    await labelled(page, "3 left").waitFor();
    for (const text of ["a1", "a2", "a3"]) await send(page, text);
    await labelled(page, "Wait").waitFor();
    await page.reload();
    await labelled(page, "Wait").waitFor();

    const { databaseUrl, url } = demo;
    expect(await demo.interrupt()).toBe(0);
    await using restarted = await startDemo({ databaseUrl, port: Number(new URL(url).port) });
    expect(restarted.url).toBe(url);
    // The page that stayed open finds the new server by itself.
    await labelled(page, "Send (1 left)").waitFor();
    await send(page, "a4");
    await labelled(page, "Wait").waitFor();
    expect(await messages(page, "You").count()).toBe(4);
  });

  it("stops cleanly on Ctrl-C while a page is open", async () => {
    const page = await openChat();
    await labelled(page, "3 left").waitFor();
    expect(await demo.interrupt()).toBe(0);
  });
});
